#ifndef MSD_WIRE_DEFERRED_FREE_H
#define MSD_WIRE_DEFERRED_FREE_H
/*
 * Deferred free: frees the objects of closed connections within a time limit per loop
 * iteration: unsent frames with their memory, and data of their owners. Some hold
 * hundreds of megabytes, and many may close in one iteration.
 */
#include <uv.h>

#include "daemon/loop/list.h"

/* An object to free in pieces. */
struct msd_deferred_owner {
	struct msd_list link; /* msd_deferred_free.all; initialised */
	/**
	 * Free one piece. The last call removes it from the list, and may free @e
	 * itself.
	 */
	void (*free_one)(struct msd_deferred_owner *e);
};

struct msd_deferred_free {
	struct msd_list all;        /* msd_deferred_owner.link: freed in this order */
	uv_idle_t more;             /* active while some are left */
	const uint64_t *n_turns;    /* loop iterations, without the current; borrowed */
	uint64_t (*clock_ns)(void); /* clock for the limit; only differences count */
	/** Optional: all objects are freed. */
	void (*on_freed)(void *user);
	void *user;
	uint64_t turn, ns; /* the last iteration that freed objects, and its time */
};

void msd_deferred_free_init(struct msd_deferred_free *all, uv_loop_t *loop,
			    const uint64_t *n_turns);
/** Free all objects now; later ones are freed at once. */
void msd_deferred_free_close(struct msd_deferred_free *all);
/** Add @e and free as much as this iteration's limit allows. */
void msd_deferred_free_add(struct msd_deferred_free *all, struct msd_deferred_owner *e);

#endif
