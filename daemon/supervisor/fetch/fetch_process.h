#ifndef MSD_SUPERVISOR_FETCH_PROCESS_H
#define MSD_SUPERVISOR_FETCH_PROCESS_H
/*
 * One modserd-fetch: the child and its channel. It takes requests until it is retired
 * or dies; what it says after that is not heard.
 *
 *   TAKING --retire--> ENDING --exited, channel closed--> (gone)
 *      '--exited, channel closed: on_died----------------> (gone)
 *
 * All calls on the loop's thread.
 */
#include "daemon/wire/conn.h"

struct msd_reaper;

struct msd_fetch_process_ops {
	/** A frame of one that takes requests. */
	void (*on_frame)(void *user, struct msd_conn *channel,
			 const struct msd_body *b);
	/** It is dead, and was not retired; it takes no requests any more. */
	void (*on_died)(void *user, const char *why);
	/** Once for each start, also for one that failed: nothing is left of it. */
	void (*on_gone)(void *user);
};

struct msd_fetch_process;

/** Start the program @path. @arriving, borrowed, is the folder in which it keeps what
 * is broken off; -1: none. @ops stay the caller's. Errors: MSD_IO, MSD_NOMEM; then
 * on_gone comes, before it returns or later. */
MSD_MUST_CHECK msd_err
msd_fetch_process_start(char *path, int arriving, struct msd_reaper *reaper,
			struct msd_wire *wire, const struct msd_fetch_process_ops *ops,
			void *user, struct msd_fetch_process **ret, struct msd_diag *d);
/** Send @o, which is taken. */
void msd_fetch_process_send(struct msd_fetch_process *p, struct msd_out *o);
/** It takes no more requests: the end of its channel ends it. */
void msd_fetch_process_retire(struct msd_fetch_process *p);

#endif
