#ifndef MSD_WIRE_RETRY_H
#define MSD_WIRE_RETRY_H
/* A retry list for operations that got "not now" from a source that sends no event.
 * After a delay all entries move back to their list. Loop's thread only. */
#include <uv.h>

#include "daemon/loop/list.h"

struct msd_retry {
	uv_timer_t timer;
	struct msd_list waiting;
	struct msd_list *back; /* borrowed: destination list */
};

void msd_retry_init(struct msd_retry *r, uv_loop_t *loop, struct msd_list *back);
/** An entry may leave earlier by msd_list_remove(). */
void msd_retry_later(struct msd_retry *r, struct msd_list *link);
/** Close the timer, before the loop ends. */
void msd_retry_close(struct msd_retry *r);

#endif
