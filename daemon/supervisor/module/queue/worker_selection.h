#ifndef MSD_SUPERVISOR_WORKER_SELECTION_H
#define MSD_SUPERVISOR_WORKER_SELECTION_H
/*
 * Select the worker for the next request, from plain numbers. queue.c inspects the
 * workers, asks, and sends.
 *
 * The worker with the fewest requests gets the next one. A request does not wait
 * behind a long one while another worker could start it: a busy worker gets only work
 * that it is expected to finish soon. A worker has at most MSD_SEND_AHEAD requests:
 * enough to keep it busy, few enough to stay fair and to lose little when it dies. If
 * calls are joined, a worker also gets as many requests as it may join. Requests that
 * only one worker can run, because their client holds objects there, take turns with
 * requests that any worker can run.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_SEND_AHEAD 64u /* maximum requests of a worker */
#define MSD_AHEAD_US 1000u /* a busy worker with less than this is done soon */
#define MSD_NOBODY UINT32_MAX

struct msd_worker_selection_worker {
	bool is_open;       /* its channel is open */
	bool is_stuck;      /* in a call that exceeded its deadline */
	bool has_bound;     /* requests wait that only this worker can run */
	bool is_bound_turn; /* the next request is a bound one */
	uint32_t n_sent;
	uint32_t n_joins;  /* calls that it may run as one; 0: each runs alone */
	uint32_t n_bound;  /* clients that hold objects here, or will soon */
	uint64_t ahead_us; /* expected time of all sent requests */
};

/**
 * True if a worker may get more requests. An only worker gets them then, unless it is
 * stuck.
 */
static inline bool msd_worker_selection_has_room(bool is_open, uint32_t n_sent)
{
	return is_open && n_sent < MSD_SEND_AHEAD;
}
/**
 * True if a worker with @n_sent requests, expected to take @ahead_us, would start one
 * more soon. Unknown functions count as slow.
 */
static inline bool msd_worker_selection_is_done_soon(uint32_t n_sent, uint64_t ahead_us)
{
	return n_sent == 0 || (ahead_us > 0 && ahead_us < MSD_AHEAD_US);
}
/**
 * Select a worker for a request that any worker can run. On a tie, take the first:
 * unneeded workers stay idle.
 */
uint32_t msd_choose_any(const struct msd_worker_selection_worker *workers, uint32_t n);
/**
 * Select the worker that will hold a client's objects: the one that holds those of
 * the fewest other clients.
 */
uint32_t msd_choose_home(const struct msd_worker_selection_worker *workers, uint32_t n);
/**
 * Select the first worker from @from on that gets one of its bound requests.
 * @has_shared: requests wait that any worker can run.
 */
uint32_t msd_choose_bound(const struct msd_worker_selection_worker *workers, uint32_t n,
			  uint32_t from, bool has_shared);

#endif
