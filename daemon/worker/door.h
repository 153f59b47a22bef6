#ifndef MSD_WORKER_DOOR_H
#define MSD_WORKER_DOOR_H
/*
 * The way in for the next supervisor, where this worker may outlive the one that it
 * has: a socket whose other end that one has, and the service manager. What comes
 * through is one end of a new channel. Nothing of the old one is gone on with: nobody
 * knows how much of it was read.
 *
 *   (one channel) --its end--> (waits) --a channel comes--> (one channel)
 *        '------------- a channel comes: the old one is closed -----^
 *
 * When nobody has the other end any more, nobody can come: the process ends.
 */
#include <stdbool.h>
#include <uv.h>

#include "proto/diag.h"

struct msd_worker;

struct msd_door {
	struct msd_worker *worker;
	uv_poll_t poll;
	int fd;          /* -1: there is none */
	int next;        /* a channel that waits for the end of the one before; -1 */
	bool is_between; /* there is no channel now */
};

/** Watch @fd, which is the worker's from here on; -1: there is no door. */
MSD_MUST_CHECK msd_err msd_door_open(struct msd_worker *w, uv_loop_t *loop, int fd,
				     struct msd_diag *d);
/** The channel has ended with @err: the worker is to end with it. */
bool msd_door_is_end(const struct msd_door *door, msd_err err);
/** The channel is closed; behind msd_door_is_end(), which was false. */
void msd_door_on_closed(struct msd_door *door);

#endif
