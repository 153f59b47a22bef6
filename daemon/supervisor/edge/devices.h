#ifndef MSD_SUPERVISOR_DEVICES_H
#define MSD_SUPERVISOR_DEVICES_H
/*
 * What devices this machine has. The supervisor touches no driver: at the first
 * question a short-lived `modserd-worker --devices` looks and prints one response body.
 * Its answer is kept. A driver that crashes or hangs costs that process only, and the
 * answer says so.
 */
#include "daemon/supervisor/request/deadline.h"
#include "proto/bytes.h"

struct msd_devices {
	struct msd_reaper *reaper; /* borrowed */
	struct msd_deadlines *deadlines;
	char *worker_path; /* borrowed */
	/** What was looked for is known. Set by who wants to be told; NULL: nobody. */
	void (*on_known)(void *user);
	void *user;
	struct msd_buf bytes;    /* what the process has written */
	struct msd_buf found;    /* the answer, msgpack; empty: not known yet */
	struct msd_child *child; /* NULL: none looks now */
	struct msd_deadline timeout;
};

/** Nothing is known, nobody looks. @worker_path is borrowed. */
void msd_devices_init(struct msd_devices *devices, struct msd_reaper *reaper,
		      struct msd_deadlines *deadlines, char *worker_path);
/** After the reaper was closed, which ended the process: on later turns the loop frees
 * what is known of it. */
void msd_devices_close(struct msd_devices *devices);
/** Free the answer; after the loop has ended. */
void msd_devices_finish(struct msd_devices *devices);
/** True: `found` is the answer. False: somebody looks, on_known follows on a later
 * turn. */
bool msd_devices_look(struct msd_devices *devices);

#endif
