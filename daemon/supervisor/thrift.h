#ifndef MSD_SUPERVISOR_THRIFT_H
#define MSD_SUPERVISOR_THRIFT_H
/*
 * Memory that clients made the supervisor allocate goes back to the system. The
 * allocator keeps what is freed below what is in use: after a storm of frames nobody
 * read that was a gigabyte.
 *
 * To give it back takes 0.3 s a GiB, so a thread does it (daemon/wire/work.h), and
 * free() never does. The loop waits for that thread when it needs memory which none of
 * its spare objects has: a plain call needs none.
 */
#include "daemon/wire/account.h"
#include "daemon/wire/work.h"

struct msd_thrift {
	uv_loop_t *loop;
	struct msd_account *all; /* of all clients; its most_bytes are this one's */
	bool is_running;
	/* Private. */
	struct msd_work job;
};

/** Before the first thread: large blocks are mapped, and unmapped when they are freed;
 * free() gives back none of the others. */
void msd_thrift_prepare(void);
void msd_thrift_init(struct msd_thrift *t, uv_loop_t *loop, struct msd_account *all);
/** Something was freed: when it is much since the last time, give it back. */
void msd_thrift_look(struct msd_thrift *t);

#endif
