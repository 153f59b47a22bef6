#ifndef MSD_SUPERVISOR_LOOP_LAG_H
#define MSD_SUPERVISOR_LOOP_LAG_H
/*
 * The loop lag: how late timers fire. One long iteration delays all clients. The
 * maximum of the last ten to twenty seconds is kept, so that a reader that polls
 * every ten seconds misses no peak.
 */
#include <stdint.h>

#define MSD_LOOP_LAG_WINDOW_MS 10000u

struct msd_loop_lag {
	uint64_t window;        /* the current window, of most_ms[0] */
	uint64_t most_ms[2];    /* maxima of the current and the previous window */
	uint64_t n_due, sum_ms; /* totals of all deadlines so far */
};

static inline void msd_loop_lag_turn(struct msd_loop_lag *l, uint64_t now_ms)
{
	const uint64_t window = now_ms / MSD_LOOP_LAG_WINDOW_MS;

	if (window == l->window)
		return;
	l->most_ms[1] = window == l->window + 1 ? l->most_ms[0] : 0;
	l->most_ms[0] = 0;
	l->window = window;
}
/** Record that a deadline fired @late_ms late. */
static inline void msd_loop_lag_note(struct msd_loop_lag *l, uint64_t now_ms,
				     uint64_t late_ms)
{
	msd_loop_lag_turn(l, now_ms);
	l->n_due++;
	l->sum_ms += late_ms;
	if (late_ms > l->most_ms[0])
		l->most_ms[0] = late_ms;
}
/** The maximum lag, as of @now_ms. */
static inline uint64_t msd_loop_lag_most_ms(struct msd_loop_lag l, uint64_t now_ms)
{
	msd_loop_lag_turn(&l, now_ms);
	return l.most_ms[0] > l.most_ms[1] ? l.most_ms[0] : l.most_ms[1];
}

#endif
