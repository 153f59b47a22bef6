#ifndef MSD_SUPERVISOR_SIGNALS_H
#define MSD_SUPERVISOR_SIGNALS_H
/*
 * The signals that control the daemon: SIGTERM, SIGINT, SIGHUP, SIGUSR1.
 *
 *   (blocked) --open--> delivered in a loop iteration --close--> (blocked)
 *
 * They stay blocked from the first line of main to the exit of the process. A second
 * SIGTERM therefore never kills a daemon that has finished its work and is exiting.
 * libuv's signal handles would restore the default disposition when they are closed.
 * Children get an empty mask (libuv sets it).
 */
#include <uv.h>

#include "proto/base/diag.h"

struct msd_signals {
	void (*on_signal)(struct msd_signals *s, int number);
	/* Private. */
	uv_poll_t poll;
	int fd;
};

/**
 * Block the signals in this thread and the threads that it starts; call it before the
 * first thread starts.
 */
void msd_signals_hold(void);
/**
 * Call @on_signal in an iteration of @loop for each signal that arrived, also for
 * those that were blocked before. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signals_open(struct msd_signals *s, uv_loop_t *loop,
					void (*on_signal)(struct msd_signals *s,
							  int number),
					struct msd_diag *d);
/** Deliver no more signals. The loop must run one more iteration before @s is freed. */
void msd_signals_close(struct msd_signals *s);

#endif
