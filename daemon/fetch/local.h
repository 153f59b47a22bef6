#ifndef MSD_FETCH_LOCAL_H
#define MSD_FETCH_LOCAL_H
/* A file of this machine, read on a thread: its file system may hang. */
#include <stdatomic.h>

#include "daemon/fetch/waiter.h"
#include "proto/diag.h"

struct msd_landing;
struct msd_reach;

struct msd_local {
	/* The owner's. */
	struct msd_landing *landing;   /* the thread's until on_done */
	const struct msd_reach *reach; /* borrowed until on_done */
	char *path;                    /* owned by the reader from here on */
	/** On the loop, once. */
	void (*on_done)(struct msd_local *l, msd_err err, struct msd_diag *d);
	/* For who shows progress. */
	_Atomic uint64_t bytes, total_bytes;
	/* Its own. */
	struct msd_waiter waiter;
	atomic_bool is_unwanted;
	msd_err err;
	struct msd_diag d;
};

/** Begin to read the file. */
void msd_local_begin(struct msd_local *l, uv_loop_t *loop);
/** Nobody wants it any more: on_done comes soon, with an error. */
void msd_local_cancel(struct msd_local *l);

#endif
