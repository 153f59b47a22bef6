#ifndef MSD_SUPERVISOR_CHOICE_H
#define MSD_SUPERVISOR_CHOICE_H
/*
 * Which worker gets the next request: decisions over plain numbers. queue.c looks at
 * the workers, asks, and sends.
 *
 * Of several workers the one with the fewest requests gets the next. None waits behind
 * what may take long while another worker could begin it: to a busy worker only as much
 * is sent as it is expected to be done with soon. A worker has at most MSD_SEND_AHEAD
 * requests at a time: enough to keep it busy, few enough to stay fair and to lose
 * little with it. Where calls are joined, it gets as many as it may join beside what it
 * does. Requests that can go to one worker alone, because their client holds
 * objects there, take turns with those that may go anywhere.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_SEND_AHEAD 64u /* requests a worker may have at a time */
#define MSD_AHEAD_US 1000u /* a busy worker with less than this is done soon */
#define MSD_NOBODY UINT32_MAX

struct msd_choice_worker {
	bool is_open;       /* it can be spoken to */
	bool is_stuck;      /* in a call that overran its deadline */
	bool has_bound;     /* requests wait that can go nowhere else */
	bool is_bound_turn; /* the next one is one of those */
	uint32_t n_sent;
	uint32_t n_joins;  /* calls that it may run as one; 0: each runs alone */
	uint32_t n_bound;  /* clients that hold objects here, or are about to */
	uint64_t ahead_us; /* what all that was sent is expected to take */
};

/** Whether a worker may get any more, as an only one then does, unless it is stuck. */
static inline bool msd_choice_has_room(bool is_open, uint32_t n_sent)
{
	return is_open && n_sent < MSD_SEND_AHEAD;
}
/** Whether a worker that has @n_sent, expected to take @ahead_us, would begin one more
 * soon. What nobody knows of takes long. */
static inline bool msd_choice_is_done_soon(uint32_t n_sent, uint64_t ahead_us)
{
	return n_sent == 0 || (ahead_us > 0 && ahead_us < MSD_AHEAD_US);
}
/** Who gets a request that may go anywhere. The first of equals: what nobody needs
 * stays cold. */
uint32_t msd_choose_any(const struct msd_choice_worker *workers, uint32_t n);
/** Where a client shall hold its objects: with the fewest others. */
uint32_t msd_choose_home(const struct msd_choice_worker *workers, uint32_t n);
/** The first from @from on that gets one of its own; @has_shared says that requests
 * wait that may go anywhere. */
uint32_t msd_choose_bound(const struct msd_choice_worker *workers, uint32_t n,
			  uint32_t from, bool has_shared);

#endif
