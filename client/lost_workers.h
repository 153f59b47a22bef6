#ifndef MSD_CLIENT_LOST_WORKERS_H
#define MSD_CLIENT_LOST_WORKERS_H
/* What the daemon has told of workers that are lost, to which a client has direct
 * channels: of the last ones, why. */
#include <stdint.h>

#include "proto/bytes.h"
#include "proto/err.h"

#define MSD_LOST_WORKERS 4u /* as many modules may have a channel unasked */

struct msd_lost_worker {
	uint64_t pid; /* 0: none */
	msd_err code;
	char *why; /* owned; NULL: there was no memory */
};

struct msd_lost_workers {
	struct msd_lost_worker last[MSD_LOST_WORKERS];
	unsigned next; /* the place of the next one */
};

/** `channel.lost` with @params. */
void msd_lost_workers_take(struct msd_lost_workers *l, struct msd_span params);
/** What was told of @pid last, or NULL. */
struct msd_lost_worker *msd_lost_workers_find(struct msd_lost_workers *l, uint64_t pid);
/** It was told to who asked: another worker may have its number then. */
void msd_lost_worker_forget(struct msd_lost_worker *w);
void msd_lost_workers_finish(struct msd_lost_workers *l);

#endif
