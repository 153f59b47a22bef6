#ifndef MSD_CLIENT_TLS_H
#define MSD_CLIENT_TLS_H
/*
 * TLS under a connection. libssl is opened by the first address of it: whoever connects
 * by a unix socket does not pay for it, and need not have it.
 */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "proto/diag.h"

struct msd_client_tls;

#define MSD_CLIENT_TLS_RECORD_BYTES 16384u /* what one record carries at most */

/**
 * Shake hands on @fd, which is connected and does not block from here on, with a server
 * whose certificate must be @host's, by @deadline_ns. MODSER_TLS_CA names the
 * authorities to believe (else the system's are), MODSER_TLS_CERT and MODSER_TLS_KEY
 * what to show. Errors, with @fd still the caller's: MSD_UNSUPPORTED (no libssl, or
 * built without), MSD_BAD_REQUEST (a file), MSD_DEADLINE, MSD_IO, MSD_PROTOCOL (the
 * server does not speak TLS), MSD_REFUSED (the server's certificate, or this one's).
 */
MSD_MUST_CHECK msd_err msd_client_tls_open(int fd, const char *host,
					   uint64_t deadline_ns,
					   struct msd_client_tls **ret,
					   struct msd_diag *d);
/** Fill @n pieces with what is there; @may_block: wait for the first of it. As
 * recvmsg(); errno EPROTO: msd_client_tls_why() says what. */
ssize_t msd_client_tls_read(struct msd_client_tls *t, const struct iovec *pieces,
			    size_t n, bool may_block);
/** As sendmsg(), without waiting. What was not taken comes again, first and as it was,
 * for a record of it may be on its way: MSD_CLIENT_TLS_RECORD_BYTES of it at most. */
ssize_t msd_client_tls_write(struct msd_client_tls *t, const struct iovec *pieces,
			     size_t n);
/** Why the last call failed by EPROTO. */
const char *msd_client_tls_why(const struct msd_client_tls *t);
/** What that is: MSD_REFUSED for what a side has shown, or not; MSD_PROTOCOL, MSD_IO.
 */
msd_err msd_client_tls_fault(const struct msd_client_tls *t);
/** NULL is fine. The descriptor stays open. */
void msd_client_tls_close(struct msd_client_tls *t);

#endif
