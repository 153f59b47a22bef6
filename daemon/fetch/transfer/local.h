#ifndef MSD_FETCH_LOCAL_H
#define MSD_FETCH_LOCAL_H
/* Read a file of this machine on a thread, because its file system may hang. */
#include <stdatomic.h>

#include "daemon/loop/work.h"
#include "proto/base/diag.h"

struct msd_download_buffer;
struct msd_network_options;

struct msd_local {
	/* Set by the owner. */
	struct msd_download_buffer *landing;     /* used by the thread until on_done */
	const struct msd_network_options *reach; /* borrowed until on_done */
	char *path;                              /* owned by the reader after begin */
	/** Called once, on the loop. */
	void (*on_done)(struct msd_local *l, msd_err err, struct msd_diag *d);
	/* For progress reports. */
	_Atomic uint64_t bytes, total_bytes;
	/* Private. */
	struct msd_work waiter;
	atomic_bool is_unwanted;
	msd_err err;
	struct msd_diag d;
};

/** Start to read the file. */
void msd_local_begin(struct msd_local *l, uv_loop_t *loop);
/** Cancel: on_done follows soon, with an error. */
void msd_local_cancel(struct msd_local *l);

#endif
