#ifndef MSD_CLIENT_LOST_WORKERS_H
#define MSD_CLIENT_LOST_WORKERS_H
/* The daemon's reports on lost workers to which a client has direct channels: the
 * reasons of the last few. */
#include <stdint.h>

#include "proto/base/bytes.h"
#include "proto/base/err.h"

#define MSD_LOST_WORKERS 4u /* limit of automatic direct channels */

struct msd_lost_worker {
	uint64_t pid; /* 0: none */
	msd_err code;
	char *why; /* owned; NULL: out of memory */
};

struct msd_lost_workers {
	struct msd_lost_worker last[MSD_LOST_WORKERS];
	unsigned next; /* index of the next entry */
};

/** Handle `channel.lost` with @params. */
void msd_lost_workers_apply(struct msd_lost_workers *l, struct msd_span params);
/** The last report on @pid; NULL if absent. */
struct msd_lost_worker *msd_lost_workers_find(struct msd_lost_workers *l, uint64_t pid);
/**
 * The caller has received the report; remove it, because another worker may get the
 * same pid.
 */
void msd_lost_worker_forget(struct msd_lost_worker *w);
void msd_lost_workers_finish(struct msd_lost_workers *l);

#endif
