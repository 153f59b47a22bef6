#ifndef MSD_WIRE_ENDING_H
#define MSD_WIRE_ENDING_H
/*
 * Deferred free: frees the objects of closed connections within a time limit per loop
 * iteration: unsent frames with their memory, and data of their owners. Some hold
 * hundreds of megabytes, and many may close in one iteration.
 */
#include <uv.h>

#include "daemon/wire/list.h"

/* An object to free in pieces. */
struct msd_ender {
	struct msd_list link; /* msd_ending.all; initialised */
	/**
	 * Free one piece. The last call removes it from the list, and may free @e
	 * itself.
	 */
	void (*free_one)(struct msd_ender *e);
};

struct msd_ending {
	struct msd_list all;        /* msd_ender.link: freed in this order */
	uv_idle_t more;             /* active while some are left */
	const uint64_t *n_turns;    /* loop iterations, without the current; borrowed */
	uint64_t (*clock_ns)(void); /* clock for the limit; only differences count */
	/** Optional: all objects are freed. */
	void (*on_freed)(void *user);
	void *user;
	uint64_t turn, ns; /* the last iteration that freed objects, and its time */
};

void msd_ending_init(struct msd_ending *all, uv_loop_t *loop, const uint64_t *n_turns);
/** Free all objects now; later ones are freed at once. */
void msd_ending_close(struct msd_ending *all);
/** Add @e and free as much as this iteration's limit allows. */
void msd_ending_add(struct msd_ending *all, struct msd_ender *e);

#endif
