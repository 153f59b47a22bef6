#ifndef MSD_SUPERVISOR_DEVICES_H
#define MSD_SUPERVISOR_DEVICES_H
/*
 * Lists the devices of this machine. The supervisor loads no driver: at the first
 * question it starts a short-lived `modserd-worker --devices`, which prints one
 * response body. The answer is kept. If a driver crashes or hangs, only that process
 * is lost, and the answer says so.
 */
#include "daemon/supervisor/request/deadline.h"
#include "proto/base/bytes.h"

struct msd_devices {
	struct msd_reaper *reaper; /* borrowed */
	struct msd_deadlines *deadlines;
	char *worker_path; /* borrowed */
	/* Files that the process reads for what they provide, ended by NULL; borrowed;
	 * NULL: none. */
	const char *const *plugins;
	/**
	 * Called when the answer is known. Set by the code that waits for it; may be
	 * NULL.
	 */
	void (*on_known)(void *user);
	void *user;
	struct msd_buf bytes;    /* output of the process */
	struct msd_buf found;    /* the answer, msgpack; empty: not known yet */
	struct msd_child *child; /* NULL: no process runs */
	struct msd_deadline timeout;
};

/** Initialize: nothing is known and no process runs. @worker_path is borrowed. */
void msd_devices_init(struct msd_devices *devices, struct msd_reaper *reaper,
		      struct msd_deadlines *deadlines, char *worker_path);
/**
 * Call after the reaper was closed, which ended the process. The loop frees its state
 * in later iterations.
 */
void msd_devices_close(struct msd_devices *devices);
/** Free the answer. Call after the loop has ended. */
void msd_devices_finish(struct msd_devices *devices);
/**
 * True: `found` is the answer. False: a process runs, and on_known follows in a later
 * loop iteration.
 */
bool msd_devices_look(struct msd_devices *devices);

#endif
