#ifndef MSD_FETCH_TRANSFER_H
#define MSD_FETCH_TRANSFER_H
/* One file of a web server, another daemon or this machine, brought into a landing. */
#include "daemon/fetch/download.h"
#include "daemon/fetch/local.h"
#include "daemon/fetch/origin.h"

struct msd_landing;

struct msd_transfer {
	/* The owner's. */
	struct msd_landing *landing; /* its last part; nobody else's until on_done */
	struct msd_download_how how;
	const char *known_etag; /* of what is there already; NULL: nothing is */
	/* Which file, of a daemon; NULL: the manifest. */
	const struct msd_digest *file;
	uint64_t file_bytes;
	/** Once, when nothing of it is left: another may be begun here. */
	void (*on_done)(struct msd_transfer *t, msd_err err, struct msd_diag *d);
	/* Read-only, when it is done. */
	bool is_known; /* it still is what known_etag says */
	char *etag;    /* owned, NULL: it has none */
	/* Of a daemon, from when its manifest came. */
	struct msd_origin_papers papers;
	/* Its own. */
	char *authorization; /* owned; NULL: nobody asks by name */
	bool is_local, is_origin, is_closing;
	struct msd_origin origin;
	struct msd_download download;
	struct msd_local local;
	msd_err err;
	struct msd_diag d;
};

/** Begin to bring @url. On failure nothing was begun. Errors: those of msd_uri_read(),
 * MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_transfer_begin(struct msd_transfer *t, struct msd_net *net,
					  const char *url, struct msd_diag *d);
/** Nobody wants it any more: on_done comes soon. */
void msd_transfer_cancel(struct msd_transfer *t);
/** How far it is; @ret_total is 0 when nobody knows. */
uint64_t msd_transfer_progress(const struct msd_transfer *t, uint64_t *ret_total);
/** Free what it says of the last one; it is not under way. */
void msd_transfer_finish(struct msd_transfer *t);

#endif
