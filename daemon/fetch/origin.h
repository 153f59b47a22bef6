#ifndef MSD_FETCH_ORIGIN_H
#define MSD_FETCH_ORIGIN_H
/*
 * Pull from another daemon's store. module.read lists the files of the module, then
 * returns them in chunks. Manifest and signature are among the files if they exist.
 * If there is no manifest, one is generated here, always the same for the same
 * edition. A thread does the blocking reads.
 */
#include <stdatomic.h>

#include "daemon/fetch/transfer/download.h"
#include "daemon/fetch/uri.h"
#include "daemon/loop/work.h"
#include "store/digest.h"

struct msd_download_buffer;

/* Manifest and signature of an edition, in addition to the files that the manifest
 * lists. */
struct msd_origin_papers {
	struct msd_digest manifest, signature;
	uint64_t manifest_bytes, signature_bytes; /* 0 if absent */
};

struct msd_origin {
	/* Set by the owner. */
	struct msd_uri uri;                  /* owned by the reader after begin */
	struct msd_download_buffer *landing; /* used by the thread until on_done */
	struct msd_download_how how;
	bool wants_file; /* false: wants the manifest */
	struct msd_digest digest;
	uint64_t file_bytes;
	/** Called once, on the loop. */
	void (*on_done)(struct msd_origin *o, msd_err err, struct msd_diag *d);
	/* Valid once the manifest has arrived. */
	struct msd_origin_papers papers;
	/* For progress reports. */
	_Atomic uint64_t bytes;
	/* Private. */
	struct msd_work waiter;
	atomic_bool is_unwanted;
	msd_err err;
	struct msd_diag d;
};

/**
 * Start to read. Errors in on_done: those of msd_daemon_client_ask(), after as many
 * attempts as a download has; MSD_BAD_ARTIFACT (the listing is not a valid edition);
 * MSD_NOT_VERIFIED (the manifest does not match its announced digest); those of the
 * download buffer.
 */
void msd_origin_begin(struct msd_origin *o, uv_loop_t *loop);
/** Cancel: on_done follows soon, with an error. */
void msd_origin_cancel(struct msd_origin *o);

#endif
