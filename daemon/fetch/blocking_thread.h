#ifndef MSD_FETCH_BLOCKING_THREAD_H
#define MSD_FETCH_BLOCKING_THREAD_H
/*
 * A thread for one blocking job (a peer, a file system). Each pull has its own, and
 * pulls are limited. libuv's pool has only four threads, and four blocked jobs would
 * stop it.
 */
#include <stdbool.h>
#include <uv.h>

/* Embedded by the owner. */
struct msd_blocking_thread {
	/** Called on the thread. */
	void (*work)(struct msd_blocking_thread *w);
	/**
	 * Called once on the loop, after the thread has ended. !w->has_worked: no
	 * thread could be created.
	 */
	void (*on_done)(struct msd_blocking_thread *w);
	bool has_worked;
	/* Private. */
	uv_thread_t thread;
	uv_async_t done;
};

/** Start the thread. */
void msd_blocking_thread_begin(struct msd_blocking_thread *w, uv_loop_t *loop);

#endif
