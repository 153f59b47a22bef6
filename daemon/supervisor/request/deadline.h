#ifndef MSD_SUPERVISOR_DEADLINE_H
#define MSD_SUPERVISOR_DEADLINE_H
/* Many deadlines on one timer; a task of the loop fires one at a time. Nodes are
 * embedded in the waiting objects and form a pairing heap: setting a deadline allocates
 * no memory and cannot fail. */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

#include "daemon/loop/task.h"
#include "daemon/supervisor/request/loop_lag.h"

#define MSD_AWAY_LEAST_MS 1000u

struct msd_deadline {
	uint64_t at_ms; /* loop time */
	/** Runs on the loop, once; the node is out of the heap and may be set again. */
	void (*on_due)(struct msd_deadline *node);
	/* Private. */
	struct msd_deadline *child; /* first child; due no earlier than this node */
	struct msd_deadline *next;  /* next sibling */
	struct msd_deadline *prev;  /* previous sibling, or parent of the first */
	bool is_set;
};

struct msd_deadlines {
	uv_loop_t *loop;
	struct msd_tasks *tasks; /* borrowed */
	uv_timer_t timer;
	struct msd_task due;        /* fires the nodes that are due */
	bool is_behind;             /* it has more to fire, or fires a node now */
	struct msd_deadline *first; /* the root: the earliest */
	struct msd_loop_lag lag;    /* how late nodes fired */
};

/** Initialize without deadlines; @tasks and its loop must outlive it. */
void msd_deadlines_init(struct msd_deadlines *ds, struct msd_tasks *tasks);
/** Close the timer; no node fires after this. */
void msd_deadlines_close(struct msd_deadlines *ds);
/** (Re)set @node to fire in @in_ms. */
void msd_deadline_set(struct msd_deadlines *ds, struct msd_deadline *node,
		      uint64_t in_ms);
/** Cancel @node. Allowed if it is not set. */
void msd_deadline_clear(struct msd_deadlines *ds, struct msd_deadline *node);
/** True if @node is set. */
static inline bool msd_deadline_is_set(const struct msd_deadline *node)
{
	return node->is_set;
}
/**
 * For use in on_due(): how long the daemon was stopped or without CPU when @node was
 * due; 0: it was only busy. In that time a peer may have done the expected work, and
 * the loop has not seen it yet.
 */
static inline uint64_t msd_deadline_away_ms(const struct msd_deadlines *ds,
					    const struct msd_deadline *node)
{
	const uint64_t late_ms = uv_now(ds->loop) - node->at_ms;

	return late_ms > MSD_AWAY_LEAST_MS ? late_ms : 0;
}
/** Milliseconds left, 0 if due or not set. */
uint64_t msd_deadline_left(const struct msd_deadlines *ds,
			   const struct msd_deadline *node);

#endif
