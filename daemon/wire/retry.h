#ifndef MSD_WIRE_RETRY_H
#define MSD_WIRE_RETRY_H
/*
 * Those who were told "not now" by something that tells nobody when it is over: after a
 * while they are all moved back to the list that they had come from. On the loop's
 * thread.
 */
#include <uv.h>

#include "daemon/wire/list.h"

struct msd_retry {
	uv_timer_t timer;
	struct msd_list waiting;
	struct msd_list *back; /* borrowed: where they go then */
};

void msd_retry_init(struct msd_retry *r, uv_loop_t *loop, struct msd_list *back);
/** Who waits may leave by msd_list_remove(). */
void msd_retry_later(struct msd_retry *r, struct msd_list *link);
/** Close the timer, before the loop ends. */
void msd_retry_close(struct msd_retry *r);

#endif
