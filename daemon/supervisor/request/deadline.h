#ifndef MSD_SUPERVISOR_DEADLINE_H
#define MSD_SUPERVISOR_DEADLINE_H
/*
 * Many deadlines behind one timer. Nodes are embedded in what waits, and are the heap
 * (a pairing heap): setting one takes no memory, so that it cannot fail.
 */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/supervisor/request/lag.h"

#define MSD_AWAY_LEAST_MS 1000u

struct msd_deadline {
	uint64_t at_ms; /* loop time */
	/** Runs on the loop, once; the node is out of the heap and may be set again. */
	void (*on_due)(struct msd_deadline *node);
	/* Private. */
	struct msd_deadline *child; /* the first of those that are due no earlier */
	struct msd_deadline *next;  /* of the same parent */
	struct msd_deadline *prev;  /* the one before it, or the parent of the first */
	bool is_set;
};

struct msd_deadlines {
	uv_loop_t *loop;
	uv_timer_t timer;
	uv_idle_t more; /* runs while what is due is left for the next turn */
	bool is_behind; /* then, and while it is told */
	struct msd_deadline *first; /* the root: the earliest */
	struct msd_lag lag;         /* how late they were told */
};

/** No deadline yet; a timer and an idle handle on @loop, which must outlive it. */
void msd_deadlines_init(struct msd_deadlines *ds, uv_loop_t *loop);
/** Close the timer; no node fires any more. */
void msd_deadlines_close(struct msd_deadlines *ds);
/** (Re)set @node to fire in @in_ms. */
void msd_deadline_set(struct msd_deadlines *ds, struct msd_deadline *node,
		      uint64_t in_ms);
/** It does not fire. Legal on a node that is not waiting. */
void msd_deadline_clear(struct msd_deadlines *ds, struct msd_deadline *node);
/** It is waiting to fire. */
static inline bool msd_deadline_is_set(const struct msd_deadline *node)
{
	return node->is_set;
}
/** In on_due(): for how long the daemon was away, stopped or without a processor, when
 * @node was due; 0: it was only busy. Others may have done meanwhile what was expected
 * of them, and nobody has looked yet. */
static inline uint64_t msd_deadline_away_ms(const struct msd_deadlines *ds,
					    const struct msd_deadline *node)
{
	const uint64_t late_ms = uv_now(ds->loop) - node->at_ms;

	return late_ms > MSD_AWAY_LEAST_MS ? late_ms : 0;
}
/** Milliseconds left, 0 when due or not waiting. */
uint64_t msd_deadline_left(const struct msd_deadlines *ds,
			   const struct msd_deadline *node);

#endif
