#ifndef MSD_SUPERVISOR_MEMORY_TRIM_H
#define MSD_SUPERVISOR_MEMORY_TRIM_H
/*
 * Return memory that clients made the supervisor allocate to the system. The
 * allocator keeps freed memory below memory in use: after a burst of frames that
 * clients did not read, that was a gigabyte.
 *
 * Trimming takes 0.3 s per GiB, so a thread does it (daemon/loop/work.h), never
 * free(). The loop waits for that thread if it needs memory that its object pools do
 * not have; a plain call needs no such memory.
 */
#include "daemon/loop/account.h"
#include "daemon/loop/work.h"

struct msd_memory_trim {
	uv_loop_t *loop;
	struct msd_account *all; /* of all clients; most_bytes is used here */
	bool is_running;
	/* Private. */
	struct msd_work job;
};

/**
 * Call it before the first thread. Large blocks are mapped, and unmapped when they
 * are freed; free() does not trim smaller blocks.
 */
void msd_memory_trim_prepare(void);
void msd_memory_trim_init(struct msd_memory_trim *t, uv_loop_t *loop,
			  struct msd_account *all);
/** Memory was freed: trim if much was freed since the last time. */
void msd_memory_trim_look(struct msd_memory_trim *t);

#endif
