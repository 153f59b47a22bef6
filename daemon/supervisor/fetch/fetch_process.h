#ifndef MSD_SUPERVISOR_FETCH_PROCESS_H
#define MSD_SUPERVISOR_FETCH_PROCESS_H

/*
 * One modserd-fetch: the child and its channel. It accepts requests until it is
 * retired or dies; later output is ignored.
 *
 *   TAKING --retire--> ENDING --exited, channel closed--> (gone)
 *      '--exited, channel closed: on_died----------------> (gone)
 *
 * Call all functions on the loop's thread.
 */

#include "daemon/stream/conn.h"

struct msd_reaper;

struct msd_fetch_process_ops {
	/** A frame of a process that accepts requests. */
	void (*on_frame)(void *user, struct msd_conn *channel,
			 const struct msd_body *b);
	/** It died without being retired; it accepts no more requests. */
	void (*on_died)(void *user, const char *why);
	/**
	 * Called once for each start, also for a failed one: the process and its
	 * channel are gone.
	 */
	void (*on_gone)(void *user);
};

struct msd_fetch_process;

/**
 * Start the program @path. @arriving, borrowed: the folder for partial downloads; -1:
 * none. @ops stay the caller's. Errors: MSD_IO, MSD_NOMEM; on_gone is then called,
 * before it returns or later.
 */
MSD_MUST_CHECK msd_err
msd_fetch_process_start(char *path, int arriving, struct msd_reaper *reaper,
			struct msd_wire *wire, const struct msd_fetch_process_ops *ops,
			void *user, struct msd_fetch_process **ret, struct msd_diag *d);
/** Send @o, which is taken. */
void msd_fetch_process_send(struct msd_fetch_process *p, struct msd_out *o);
/** Accept no more requests: it exits when its channel is closed. */
void msd_fetch_process_retire(struct msd_fetch_process *p);

#endif
