#ifndef MSD_FETCH_WAITER_H
#define MSD_FETCH_WAITER_H
/*
 * A thread for one blocking job (a peer, a file system). Each pull has its own, and
 * pulls are limited. libuv's pool has only four threads, and four blocked jobs would
 * stop it.
 */
#include <stdbool.h>
#include <uv.h>

/* Embedded by the owner. */
struct msd_waiter {
	/** Called on the thread. */
	void (*work)(struct msd_waiter *w);
	/**
	 * Called once on the loop, after the thread has ended. !w->has_worked: no
	 * thread could be created.
	 */
	void (*on_done)(struct msd_waiter *w);
	bool has_worked;
	/* Private. */
	uv_thread_t thread;
	uv_async_t done;
};

/** Start the thread. */
void msd_waiter_begin(struct msd_waiter *w, uv_loop_t *loop);

#endif
