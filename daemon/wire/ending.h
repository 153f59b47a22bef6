#ifndef MSD_WIRE_ENDING_H
#define MSD_WIRE_ENDING_H
/*
 * What those leave who have ended, freed in a part of each turn of the loop: frames
 * that nobody will read, each with what it was made of, and what their owners had for
 * them. Some have hundreds of megabytes, and many may end in one turn.
 */
#include <uv.h>

#include "daemon/wire/list.h"

struct msd_wire;

/* One of them. */
struct msd_ender {
	struct msd_list link; /* msd_ending.all; initialised */
	/** Free a piece; with the last one it leaves the list, and may be gone. */
	void (*free_one)(struct msd_ender *e);
};

struct msd_ending {
	struct msd_wire *wire; /* whose clock and turns it goes by */
	struct msd_list all;   /* msd_ender.link: the first is freed first */
	uv_idle_t more;        /* runs while some are left */
	uint64_t turn, ns;     /* the last in which some were freed, and how long */
};

void msd_ending_init(struct msd_ending *all, struct msd_wire *w);
/** Free what is left of all, now; who comes later is freed at once. */
void msd_ending_close(struct msd_ending *all);
/** Free @e: now, as far as this turn's part goes. */
void msd_ending_add(struct msd_ending *all, struct msd_ender *e);

#endif
