#ifndef MSD_FETCH_ORIGIN_H
#define MSD_FETCH_ORIGIN_H
/*
 * Another daemon's store, as a source: module.read tells which files a module consists
 * of, and then gives them in pieces. A manifest that its maker wrote is one of them,
 * and so is its signature; where there is none a manifest is written here, the same as
 * long as the edition is. It is read on a thread, which waits.
 */
#include <stdatomic.h>

#include "daemon/fetch/download.h"
#include "daemon/fetch/uri.h"
#include "daemon/fetch/waiter.h"
#include "store/digest.h"

struct msd_landing;

/* What it tells of an edition beside the files that the manifest lists. */
struct msd_origin_papers {
	struct msd_digest manifest, signature;
	uint64_t manifest_bytes, signature_bytes; /* 0: it has none */
};

struct msd_origin {
	/* The owner's. */
	struct msd_uri uri;          /* the reader's own from here on */
	struct msd_landing *landing; /* the thread's until on_done */
	struct msd_download_how how;
	bool wants_file; /* else the manifest */
	struct msd_digest digest;
	uint64_t file_bytes;
	/** On the loop, once. */
	void (*on_done)(struct msd_origin *o, msd_err err, struct msd_diag *d);
	/* When the manifest came. */
	struct msd_origin_papers papers;
	/* For who shows progress. */
	_Atomic uint64_t bytes;
	/* Its own. */
	struct msd_waiter waiter;
	atomic_bool is_unwanted;
	msd_err err;
	struct msd_diag d;
};

/** Begin to read. Errors in on_done: those of msd_line_ask(), after as many attempts as
 * a download has; MSD_BAD_ARTIFACT (what it tells of the module is no edition);
 * MSD_NOT_VERIFIED (the manifest is another than it tells); those of the landing. */
void msd_origin_begin(struct msd_origin *o, uv_loop_t *loop);
/** Nobody wants it any more: on_done comes soon, with an error. */
void msd_origin_cancel(struct msd_origin *o);

#endif
