#include "daemon/stream/wire.h"

#include <stdlib.h>
#include <time.h>

#include "daemon/stream/conn.h"

/*
 * A connection that was served and has more goes to the end of the list. So one pass
 * serves each connection once, and stops at the first that was served in this
 * iteration. Connections that were passed over are first in the next one.
 */

#define RBUF_BYTES (256u * 1024u)

static void on_awake(uv_idle_t *handle)
{
	(void)handle; /* an active idle handle keeps the loop awake */
}

static void serve_waiting(struct msd_wire *w)
{
	struct msd_list *first = w->waiting.next, *it;

	while ((it = msd_list_first(&w->passed_over)) != NULL) {
		msd_list_remove(it);
		msd_list_append(first, it); /* insert before @first */
	}
	while ((it = msd_list_first(&w->waiting)) != NULL) {
		struct msd_schedulable *t =
			MSD_CONTAINER_OF(it, struct msd_schedulable, link);
		if (t->turn == w->count.turns)
			return;
		t->have_turn(t);
	}
}

static void keep_awake(struct msd_wire *w, bool is_awake)
{
	if (w->is_awake == is_awake)
		return;
	w->is_awake = is_awake;
	if (is_awake) {
		(void)uv_idle_start(&w->awake, on_awake);
	} else {
		(void)uv_idle_stop(&w->awake);
	}
}

/* A flush may make other connections write or close, so take the first one each time.
 * Connections whose peer had its share stay, and are first in the next iteration. */
static void write_dirty(struct msd_wire *w)
{
	struct msd_list *it, late;

	msd_list_init(&late);
	while ((it = msd_list_first(&w->dirty)) != NULL) {
		struct msd_conn *c = MSD_CONTAINER_OF(it, struct msd_conn, dirty_link);
		if (msd_conn_may_write(c)) {
			msd_conn_flush(c);
		} else {
			msd_list_remove(it);
			msd_list_append(&late, it);
		}
	}
	msd_list_append_all(&w->dirty, &late);
}

static void on_prepare(uv_prepare_t *handle)
{
	struct msd_wire *w = handle->data;

	msd_wire_count_turn(w);
	serve_waiting(w);
	write_dirty(w);
	keep_awake(w, !msd_list_is_empty(&w->waiting) ||
			      !msd_list_is_empty(&w->passed_over) ||
			      !msd_list_is_empty(&w->dirty));
	w->now_ns = 0;
}

static uint64_t clock_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

msd_err msd_wire_init(struct msd_wire *w, uv_loop_t *loop, struct msd_diag *d)
{
	*w = (struct msd_wire){
		.loop = loop, .clock_ns = clock_ns, .rbuf_bytes = RBUF_BYTES};
	msd_list_init(&w->dirty);
	msd_list_init(&w->waiting);
	msd_list_init(&w->passed_over);
	w->rbuf = malloc(2 * w->rbuf_bytes);
	if (w->rbuf == NULL)
		return msd_diag_no_memory(d);
	w->waste = w->rbuf + w->rbuf_bytes;
	msd_account_open(&w->workers, NULL, UINT64_MAX);
	msd_account_open(&w->worker, &w->workers, UINT64_MAX);
	(void)uv_prepare_init(loop, &w->prepare); /* these never fail */
	w->prepare.data = w;
	(void)uv_prepare_start(&w->prepare, on_prepare);
	uv_unref((uv_handle_t *)&w->prepare);
	(void)uv_idle_init(loop, &w->awake);
	msd_tasks_init(&w->tasks, loop);
	msd_retry_init(&w->retry, loop, &w->dirty);
	msd_retry_init(&w->bringing, loop, &w->waiting);
	return MSD_OK;
}

void msd_wire_close(struct msd_wire *w)
{
	if (w->rbuf == NULL)
		return;
	uv_close((uv_handle_t *)&w->prepare, NULL);
	uv_close((uv_handle_t *)&w->awake, NULL);
	msd_tasks_close(&w->tasks);
	msd_retry_close(&w->retry);
	msd_retry_close(&w->bringing);
}

void msd_wire_finish(struct msd_wire *w)
{
	free(w->rbuf);
	w->rbuf = NULL;
}
