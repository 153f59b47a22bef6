#ifndef MSD_WIRE_ENDING_H
#define MSD_WIRE_ENDING_H
/*
 * What those leave who have ended, freed in a part of each turn of the loop: frames
 * that nobody will read, each with what it was made of, and what their owners had for
 * them. Some have hundreds of megabytes, and many may end in one turn.
 */
#include <uv.h>

#include "daemon/wire/list.h"

/* One of them. */
struct msd_ender {
	struct msd_list link; /* msd_ending.all; initialised */
	/** Free a piece; with the last one it leaves the list, and may be gone. */
	void (*free_one)(struct msd_ender *e);
};

struct msd_ending {
	struct msd_list all;     /* msd_ender.link: the first is freed first */
	uv_idle_t more;          /* runs while some are left */
	const uint64_t *n_turns; /* of the loop, counted before it sleeps; borrowed */
	uint64_t (*clock_ns)(
		void); /* what a part is measured with; only differences count */
	/** Optional: all is freed. */
	void (*on_freed)(void *user);
	void *user;
	uint64_t turn, ns; /* the last in which some were freed, and how long */
};

void msd_ending_init(struct msd_ending *all, uv_loop_t *loop, const uint64_t *n_turns);
/** Free what is left of all, now; who comes later is freed at once. */
void msd_ending_close(struct msd_ending *all);
/** Free @e: now, as far as this turn's part goes. */
void msd_ending_add(struct msd_ending *all, struct msd_ender *e);

#endif
