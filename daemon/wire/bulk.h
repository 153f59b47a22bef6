#ifndef MSD_WIRE_BULK_H
#define MSD_WIRE_BULK_H
/*
 * Work in proportion to a file's bytes, on threads that come after everybody else where
 * processors are short: hashing 45 MiB takes a tenth of a second, and on a thread of
 * libuv's, which is worth as much as the loop, one call in fifty waited for a slice of
 * it, 3 ms. Here it gets about a tenth of a processor that others want, and all of one
 * that nobody does.
 *
 *   (begun) --thread--> worked --loop--> done() is called, once, on a later turn
 *
 * Threads are started when there is something to do and end when there is nothing. One
 * that never comes back (a file system that hangs) keeps its job; others go on while
 * fewer than msd_bulk_allow() said hang. Where none can be started and none runs, one
 * of libuv's does it.
 */
#include <stdbool.h>
#include <uv.h>

/* Embedded by who wants something done. */
struct msd_bulk {
	void (*work)(struct msd_bulk *b); /* on a thread */
	void (*done)(struct msd_bulk *b); /* on the loop; it may free @b */
	/* Private. */
	union {
		uv_async_t over;
		uv_work_t borrowed; /* a thread of libuv's */
	} by;
	struct msd_bulk *next; /* behind it in the queue */
};

/** As many threads as run at a time, 1 or more; before the first is begun. */
void msd_bulk_allow(unsigned n);
/** Do @b, of which work and done are set, behind what waits; @b stays where it is until
 * done(), where it may be begun again. The loop's thread. */
void msd_bulk_begin(uv_loop_t *loop, struct msd_bulk *b);
/** Some that were begun are not done: the loop may not be closed. Its thread. */
bool msd_bulk_is_busy(void);

#define MSD_BULK_THREADS 4u /* unless msd_bulk_allow() says otherwise */
#define MSD_BULK_NICE 10    /* more than who began it */

#endif
