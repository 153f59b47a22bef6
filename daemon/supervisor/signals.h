#ifndef MSD_SUPERVISOR_SIGNALS_H
#define MSD_SUPERVISOR_SIGNALS_H
/*
 * The signals that the daemon is told things by: SIGTERM, SIGINT, SIGHUP, SIGUSR1.
 *
 *   (held) --open--> each is told on a turn of the loop --close--> (held)
 *
 * They stay held from the first line of main to the end of the process, so that being
 * told to end once more, by somebody in a hurry, never kills a daemon that is just
 * ending with its work done: there is no moment with the system's own disposition,
 * which libuv's signal handles bring back when they are closed. Children get an empty
 * mask (libuv sees to it).
 */
#include <uv.h>

#include "proto/diag.h"

struct msd_signals {
	void (*on_signal)(struct msd_signals *s, int number);
	/* Private. */
	uv_poll_t poll;
	int fd;
};

/** Hold them for this thread and all that it starts: before there is another one. */
void msd_signals_hold(void);
/** Tell @on_signal on turns of @loop of each that came, held ones too. Errors: MSD_IO.
 */
MSD_MUST_CHECK msd_err msd_signals_open(struct msd_signals *s, uv_loop_t *loop,
					void (*on_signal)(struct msd_signals *s,
							  int number),
					struct msd_diag *d);
/** Nothing is told any more. The loop must turn once more before @s goes. */
void msd_signals_close(struct msd_signals *s);

#endif
