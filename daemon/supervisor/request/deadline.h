#ifndef MSD_SUPERVISOR_DEADLINE_H
#define MSD_SUPERVISOR_DEADLINE_H
/* Many deadlines behind one timer: a binary heap. Nodes are embedded in what waits. */
#include <stdbool.h>
#include <stdint.h>
#include <uv.h>

struct msd_deadline {
	uint64_t at_ms; /* loop time */
	uint32_t slot;  /* 1-based place in the heap; 0: not waiting */
	/** Runs on the loop, once; the node is out of the heap and may be set again. */
	void (*on_due)(struct msd_deadline *node);
};

struct msd_deadlines {
	uv_loop_t *loop;
	uv_timer_t timer;
	struct msd_deadline **heap; /* [1..n] */
	uint32_t n, cap;
};

/** No deadline yet; one timer on @loop, which must outlive it. */
void msd_deadlines_init(struct msd_deadlines *ds, uv_loop_t *loop);
/** Close the timer and free the heap; no node fires any more. */
void msd_deadlines_close(struct msd_deadlines *ds);
/** (Re)set @node to fire in @in_ms. False when memory is short: it will not fire. */
bool msd_deadline_set(struct msd_deadlines *ds, struct msd_deadline *node,
		      uint64_t in_ms);
/** It does not fire. Legal on a node that is not waiting. */
void msd_deadline_clear(struct msd_deadlines *ds, struct msd_deadline *node);
/** Milliseconds left, 0 when due or not waiting. */
uint64_t msd_deadline_left(const struct msd_deadlines *ds,
			   const struct msd_deadline *node);

#endif
