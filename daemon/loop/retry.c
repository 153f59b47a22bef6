#include "daemon/loop/retry.h"

#define RETRY_MS 10u

static void on_timer(uv_timer_t *timer)
{
	struct msd_retry *r = timer->data;
	struct msd_list *it;

	while ((it = msd_list_first(&r->waiting)) != NULL) {
		msd_list_remove(it);
		msd_list_append(r->back, it);
	}
}

void msd_retry_init(struct msd_retry *r, uv_loop_t *loop, struct msd_list *back)
{
	msd_list_init(&r->waiting);
	r->back = back;
	(void)uv_timer_init(loop, &r->timer); /* never fails */
	r->timer.data = r;
}

void msd_retry_later(struct msd_retry *r, struct msd_list *link)
{
	msd_list_append(&r->waiting, link);
	if (!uv_is_active((const uv_handle_t *)&r->timer))
		(void)uv_timer_start(&r->timer, on_timer, RETRY_MS, 0);
}

void msd_retry_close(struct msd_retry *r)
{
	uv_close((uv_handle_t *)&r->timer, NULL);
}
