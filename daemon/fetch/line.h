#ifndef MSD_FETCH_LINE_H
#define MSD_FETCH_LINE_H
/*
 * A connection to another daemon, for a thread that may wait: one request at a time and
 * its answer, in the frames of every wire (proto/PROTOCOL.md). libcurl makes it, which
 * knows names, proxies and authorities; plain where the URI's host may be asked so
 * (uri.h), else TLS.
 */
#include <curl/curl.h>
#include <stdatomic.h>

#include "daemon/fetch/gate.h"
#include "proto/bytes.h"
#include "proto/diag.h"

struct msd_reach;
struct msd_uri;

struct msd_line {
	/* The owner's, borrowed until it is closed. */
	const struct msd_uri *to;
	const struct msd_reach *reach;
	const atomic_bool *is_unwanted; /* by another thread; ends what waits soon */
	uint64_t stall_ms;              /* so long without progress is an end */
	uint32_t max_body_bytes;        /* of an answer */
	/* Its own. */
	CURL *easy; /* owned */
	struct msd_buf body;
	uint64_t id;
	struct msd_gate gate;
	/* Of one wait: since when, and how much came since. */
	uint64_t since_ms, since_bytes;
};

/** Connect; close in every case. Errors: MSD_IO, MSD_REFUSED (a name that led away from
 * this machine), MSD_CANCELLED, MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_line_open(struct msd_line *l, struct msd_diag *d);
/**
 * Ask for @method with @params, an array in msgpack. *ret is the result, which lives
 * until the next question. Errors: MSD_NOT_FOUND, MSD_REFUSED, MSD_UNSUPPORTED as the
 * daemon says them; MSD_IO (it says anything else, is cut, or stalls); MSD_PROTOCOL (no
 * daemon); MSD_CANCELLED; MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_line_ask(struct msd_line *l, const char *method,
				    struct msd_span params, struct msd_span *ret,
				    struct msd_diag *d);
void msd_line_close(struct msd_line *l);

#endif
