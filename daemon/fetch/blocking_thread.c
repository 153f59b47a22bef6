#include "daemon/fetch/blocking_thread.h"

static void on_closed(uv_handle_t *handle)
{
	struct msd_blocking_thread *w = handle->data;

	w->on_done(w);
}

static void on_worked(uv_async_t *async)
{
	struct msd_blocking_thread *w = async->data;

	(void)uv_thread_join(&w->thread);
	uv_close((uv_handle_t *)async, on_closed);
}

static void run(void *arg)
{
	struct msd_blocking_thread *w = arg;

	w->work(w);
	(void)uv_async_send(&w->done);
}

void msd_blocking_thread_begin(struct msd_blocking_thread *w, uv_loop_t *loop)
{
	w->done.data = w;
	(void)uv_async_init(loop, &w->done,
			    on_worked); /* can only fail for a loop's first async; the
					   loop has one */
	w->has_worked = uv_thread_create(&w->thread, run, w) == 0;
	if (!w->has_worked)
		uv_close((uv_handle_t *)&w->done, on_closed);
}
