#ifndef MSD_FETCH_DOWNLOAD_H
#define MSD_FETCH_DOWNLOAD_H
/*
 * One thing got by HTTP, whatever the network does meanwhile: an attempt that is cut is
 * followed by another that goes on where the first one ended.
 *
 *   ASKING --whole--> (done)
 *     |  ^--redirected--'|
 *     |                  |
 *     '--cut, stalled, 5xx, 429--> RESTING --its time--> ASKING
 *     '--anything else, or the last attempt--> (done, with an error)
 */
#include "daemon/fetch/gate.h"
#include "daemon/fetch/net.h"
#include "daemon/fetch/way.h"

#define MSD_DOWNLOAD_ATTEMPTS 4u         /* in a row that bring hardly anything */
#define MSD_DOWNLOAD_PROGRESS (1u << 20) /* bytes of an attempt that count as much */

struct msd_reach;
struct msd_sink;

struct msd_download_how {
	uint64_t stall_ms; /* so long without progress is an end */
	uint64_t retry_ms; /* the first rest is at most so long (backoff.h) */
	const struct msd_reach *reach; /* borrowed until the end */
	bool is_vouched; /* the asker may have the URL asked, as it was made of one that
			  * it may; where that redirects to is judged by itself */
};

struct msd_download {
	/* The owner's. */
	struct msd_net *net;
	struct msd_sink *sink;
	struct msd_download_how how;
	/* Headers that are asked with, borrowed until the end; NULL: none. The second
	 * is for the host that the URL names, and no other. */
	const char *accept, *authorization;
	const char
		*known_etag; /* of what is there already, likewise; NULL: nothing is */
	/** Once, not before a later turn. It may be freed when its `on_closed` comes.
	 */
	void (*on_done)(struct msd_download *dl, msd_err err, struct msd_diag *d);
	/** After msd_download_close(). */
	void (*on_closed)(struct msd_download *dl);
	uint64_t total_bytes; /* announced; 0: not known */
	char *challenge;      /* owned; what a 401 asks for, NULL: nothing */
	char *etag;           /* owned; of what has come, NULL: it has none */
	bool is_known;        /* done: it still is what known_etag says */
	/* Its own. */
	struct msd_net_call call;
	struct msd_way way;
	struct msd_gate gate;
	struct curl_slist *headers;
	uv_timer_t timer;
	uint64_t begun_bytes;   /* of the sink, when the attempt began */
	uint64_t checked_bytes; /* of the sink, at the last look whether it stalls, ...
				 */
	uint64_t checked_ms;    /* ... which was then, by the loop */
	unsigned n_failures;
	bool is_asking, has_begun, must_restart;
	struct msd_diag why; /* of this attempt */
};

/** Begin to get @url. On failure nothing was begun. Errors: those of msd_uri_read(),
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_download_begin(struct msd_download *dl, const char *url,
					  struct msd_diag *d);
/** End it in any state after a begin that succeeded; then on_closed. */
void msd_download_close(struct msd_download *dl);

#endif
