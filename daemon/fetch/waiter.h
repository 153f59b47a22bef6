#ifndef MSD_FETCH_WAITER_H
#define MSD_FETCH_WAITER_H
/*
 * What waits for others (a peer, a file system), on a thread of its own: as many as
 * there are pulls, which have a limit. libuv's threads are four, and four that wait
 * would keep all others waiting.
 */
#include <stdbool.h>
#include <uv.h>

/* Embedded by who waits. */
struct msd_waiter {
	/** On the thread. */
	void (*work)(struct msd_waiter *w);
	/** On the loop, once, when nothing of it is left. !w->has_worked: no thread was
	 * to be had. */
	void (*on_done)(struct msd_waiter *w);
	bool has_worked;
	/* Its own. */
	uv_thread_t thread;
	uv_async_t done;
};

/** Begin. */
void msd_waiter_begin(struct msd_waiter *w, uv_loop_t *loop);

#endif
