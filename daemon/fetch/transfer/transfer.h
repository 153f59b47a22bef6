#ifndef MSD_FETCH_TRANSFER_H
#define MSD_FETCH_TRANSFER_H

/* Download one file from a web server, another daemon or this machine into a download
 * buffer. */

#include <stdint.h>

#include "daemon/fetch/origin.h"
#include "daemon/fetch/transfer/download.h"
#include "daemon/fetch/transfer/local.h"

struct msd_download_buffer;

struct msd_transfer {
	/* Set by the owner. */
	struct msd_download_buffer
		*landing; /* its last part; used only by the transfer until on_done */
	struct msd_download_how how;
	const char *known_etag; /* ETag: copy already present; NULL if none */
	/* File of a daemon's store; NULL means the manifest. */
	const struct msd_digest *file;
	uint64_t file_bytes;
	/** Called once, after everything is closed: a new transfer may begin here. */
	void (*on_done)(struct msd_transfer *t, msd_err err, struct msd_diag *d);
	/* Read-only after the end. */
	bool is_known; /* the file still matches known_etag */
	char *etag;    /* owned, NULL if none */
	/* For a daemon, valid once its manifest has arrived. */
	struct msd_origin_papers papers;
	/* Private. */
	char *authorization; /* owned; NULL if not needed */
	bool is_local, is_origin, is_closing;
	struct msd_origin origin;
	struct msd_download download;
	struct msd_local local;
	msd_err err;
	struct msd_diag d;
};

/**
 * Start to download @url. On failure nothing was started. Errors: those of
 * msd_uri_read(), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_transfer_begin(struct msd_transfer *t, struct msd_net *net,
					  const char *url, struct msd_diag *d);
/** Cancel: on_done follows soon. */
void msd_transfer_cancel(struct msd_transfer *t);
/** Bytes received so far; @ret_total is 0 if the total is unknown. */
uint64_t msd_transfer_progress(const struct msd_transfer *t, uint64_t *ret_total);
/** Free the results of the last transfer. No transfer may be running. */
void msd_transfer_finish(struct msd_transfer *t);

/* Back-off time before a retry. */

#define MSD_BACKOFF_MOST_MS 300000u

/**
 * A random time in ms, at most @first_ms doubled for each failure after the first
 * (@n_failures is at least 1). The randomness spreads the retries of clients that
 * failed together. The result is at least @least_ms, which a server may ask for, and
 * at most MSD_BACKOFF_MOST_MS.
 */
uint64_t msd_backoff_ms(unsigned n_failures, uint64_t first_ms, uint64_t least_ms);

#endif
