#ifndef MSD_FETCH_DAEMON_CLIENT_H
#define MSD_FETCH_DAEMON_CLIENT_H
/*
 * A blocking connection to another daemon: one request at a time, in the frames of
 * proto/PROTOCOL.md. libcurl connects, because it handles names, proxies and
 * certificates. The connection is plain if the URI's host allows it (uri.h),
 * otherwise TLS.
 */
#include <curl/curl.h>
#include <stdatomic.h>

#include "daemon/fetch/transfer/address_check.h"
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

struct msd_network_options;
struct msd_uri;

struct msd_daemon_client {
	/* Set by the owner, borrowed until close. */
	const struct msd_uri *to;
	const struct msd_network_options *reach;
	const atomic_bool *is_unwanted; /* set by another thread; ends a wait soon */
	uint64_t stall_ms;       /* time without progress that counts as a stall */
	uint32_t max_body_bytes; /* of a response */
	/* Private. */
	CURL *easy; /* owned */
	struct msd_buf body;
	uint64_t id;
	struct msd_address_check gate;
	/* Of one wait: its start, and the bytes received since then. */
	uint64_t since_ms, since_bytes;
};

/**
 * Connect. Close in every case. Errors: MSD_IO, MSD_REFUSED (the name resolved to
 * another machine), MSD_CANCELLED, MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_daemon_client_open(struct msd_daemon_client *l,
					      struct msd_diag *d);
/**
 * Call @method with @params, a msgpack array. *ret is the result, valid until the
 * next call. Errors: MSD_NOT_FOUND, MSD_REFUSED, MSD_UNSUPPORTED as the daemon
 * reports them; MSD_IO (any other error, a cut or a stall); MSD_PROTOCOL (not a
 * daemon); MSD_CANCELLED; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_daemon_client_ask(struct msd_daemon_client *l,
					     const char *method, struct msd_span params,
					     struct msd_span *ret, struct msd_diag *d);
void msd_daemon_client_close(struct msd_daemon_client *l);

#endif
