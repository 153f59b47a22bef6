#ifndef MSD_CLIENT_TLS_H
#define MSD_CLIENT_TLS_H
/* TLS for a connection. libssl is opened by the first TLS address, so a client of a
 * unix socket neither loads nor needs it. */
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>
#include <sys/uio.h>

#include "proto/base/diag.h"

struct msd_client_tls;

#define MSD_CLIENT_TLS_RECORD_BYTES 16384u /* largest payload of a record */

/**
 * Do the handshake on @fd, which is connected and non-blocking from here on. The
 * server's certificate must be @host's; must finish by @deadline_ns. MODSER_TLS_CA
 * names the trusted authorities (else the system's), MODSER_TLS_CERT and
 * MODSER_TLS_KEY the client's certificate. Errors, with @fd still owned by the
 * caller: MSD_UNSUPPORTED (no libssl, or built without), MSD_BAD_REQUEST (a file),
 * MSD_DEADLINE, MSD_IO, MSD_PROTOCOL (the server does not speak TLS), MSD_REFUSED
 * (the certificate of the server, or of the client).
 */
MSD_MUST_CHECK msd_err msd_client_tls_open(int fd, const char *host,
					   uint64_t deadline_ns,
					   struct msd_client_tls **ret,
					   struct msd_diag *d);
/**
 * Fill @n buffers with the available bytes; @may_block: wait for the first byte.
 * Returns as recvmsg(); errno EPROTO: msd_client_tls_why() has the reason.
 */
ssize_t msd_client_tls_read(struct msd_client_tls *t, const struct iovec *pieces,
			    size_t n, bool may_block);
/**
 * Like sendmsg(), without waiting. The next call must begin with the bytes that were
 * not accepted, unchanged: a TLS record of them, of at most
 * MSD_CLIENT_TLS_RECORD_BYTES, may already be partly sent.
 */
ssize_t msd_client_tls_write(struct msd_client_tls *t, const struct iovec *pieces,
			     size_t n);
/** The reason why the last call failed with EPROTO. */
const char *msd_client_tls_why(const struct msd_client_tls *t);
/**
 * The code of that failure: MSD_REFUSED for a certificate that is missing or
 * rejected; MSD_PROTOCOL, MSD_IO.
 */
msd_err msd_client_tls_fault(const struct msd_client_tls *t);
/** NULL is fine. The descriptor stays open. */
void msd_client_tls_close(struct msd_client_tls *t);

#endif
