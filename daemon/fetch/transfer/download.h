#ifndef MSD_FETCH_DOWNLOAD_H
#define MSD_FETCH_DOWNLOAD_H
/*
 * Download one file by HTTP despite network failures. If an attempt is cut, the next
 * attempt resumes where it ended.
 *
 *   ASKING --whole--> (done)
 *     |  ^--redirected--'|
 *     |                  |
 *     '--cut, stalled, 5xx, 429--> RESTING --back-off--> ASKING
 *     '--anything else, or the last attempt--> (done, with an error)
 */
#include "daemon/fetch/transfer/address_check.h"
#include "daemon/fetch/transfer/net.h"
#include "daemon/fetch/transfer/redirects.h"

#define MSD_DOWNLOAD_ATTEMPTS 4u         /* consecutive attempts without progress */
#define MSD_DOWNLOAD_PROGRESS (1u << 20) /* bytes that count as progress */

struct msd_network_options;
struct msd_sink;

struct msd_download_how {
	uint64_t stall_ms; /* time without progress that ends an attempt */
	uint64_t retry_ms; /* upper bound of the first back-off (transfer.h) */
	const struct msd_network_options
		*reach;  /* borrowed until the download closes */
	bool is_vouched; /* the URL derives from one that the requester may use;
			    redirects are checked separately */
};

struct msd_download {
	/* Set by the owner. */
	struct msd_net *net;
	struct msd_sink *sink;
	struct msd_download_how how;
	/* Request headers, borrowed until the download closes; NULL if none. The
	 * second is sent only to the host of the URL. */
	const char *accept, *authorization;
	const char *known_etag; /* ETag: copy that the owner already has; borrowed as
				   above; NULL if none */
	/**
	 * Called once, not before the next loop iteration. The owner may free the
	 * download in `on_closed`.
	 */
	void (*on_done)(struct msd_download *dl, msd_err err, struct msd_diag *d);
	/** After msd_download_close(). */
	void (*on_closed)(struct msd_download *dl);
	uint64_t total_bytes; /* announced size; 0 if unknown */
	char *challenge;      /* owned; challenges of a 401, NULL if none */
	char *etag;           /* owned; ETag of the received file, NULL if none */
	bool is_known;        /* done: the file still matches known_etag */
	/* Private. */
	struct msd_net_call call;
	struct msd_redirects way;
	struct msd_address_check gate;
	struct curl_slist *headers;
	uv_timer_t timer;
	uint64_t begun_bytes;   /* size of the sink when the attempt began */
	uint64_t checked_bytes; /* size of the sink at the last stall check, ... */
	uint64_t checked_ms;    /* ... and the loop time of that check */
	unsigned n_failures;
	bool is_asking, has_begun, must_restart;
	struct msd_diag why; /* error of this attempt */
};

/**
 * Start the download of @url. On failure nothing was started. Errors: those of
 * msd_uri_read(), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_download_begin(struct msd_download *dl, const char *url,
					  struct msd_diag *d);
/** Stop the download in any state after a successful begin. on_closed follows. */
void msd_download_close(struct msd_download *dl);

#endif
