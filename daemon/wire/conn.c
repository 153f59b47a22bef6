/*
 * A connection from its opening to its end; the halves that read and write are
 * conn_read.c and conn_write.c.
 *
 * Happy path: open makes the poll handle; its readiness goes to the halves. Close says
 * why to the peer if it can, stops both, and frees when libuv has let go of the last
 * handle.
 */
#include "daemon/wire/conn.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/wire/conn_parts.h"

#define RBUF_BYTES (256u * 1024u)

static void on_prepare(uv_prepare_t *handle)
{
	struct msd_wire *w = handle->data;
	struct msd_list *it;

	w->count.turns++;
	/* A flush may make others write, or end them: whoever is first comes next. */
	while ((it = msd_list_first(&w->dirty)) != NULL)
		msd_conn_flush(MSD_CONTAINER_OF(it, struct msd_conn, dirty_link));
}

msd_err msd_wire_init(struct msd_wire *w, uv_loop_t *loop, struct msd_diag *d)
{
	*w = (struct msd_wire){.loop = loop, .rbuf_bytes = RBUF_BYTES};
	msd_list_init(&w->dirty);
	w->rbuf = malloc(w->rbuf_bytes);
	if (w->rbuf == NULL)
		return msd_diag_no_memory(d);
	(void)uv_prepare_init(loop, &w->prepare); /* never fails */
	w->prepare.data = w;
	(void)uv_prepare_start(&w->prepare, on_prepare);
	uv_unref((uv_handle_t *)&w->prepare);
	return MSD_OK;
}

void msd_wire_close(struct msd_wire *w)
{
	if (w->rbuf != NULL)
		uv_close((uv_handle_t *)&w->prepare, NULL);
}

void msd_wire_finish(struct msd_wire *w)
{
	free(w->rbuf);
	w->rbuf = NULL;
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct msd_conn *c = handle->data;

	if (status < 0) { /* libuv has stopped watching */
		c->events = 0;
		events = UV_READABLE | UV_WRITABLE;
	}
	if ((events & UV_READABLE) != 0)
		msd_conn_poll_now(c);
	if (!c->is_closing && (events & UV_WRITABLE) != 0)
		msd_conn_flush(c);
	/* The error may lie behind bytes that were read now: it is met the next time.
	 */
	msd_conn_poll_update(c);
}

void msd_conn_poll_update(struct msd_conn *c)
{
	int events = (c->paused != 0 || c->waits_for_place ? 0 : UV_READABLE) |
		     (c->wants_write ? UV_WRITABLE : 0);

	if (c->is_closing)
		return;
	events = c->transport.ops->wants(&c->transport, events);
	if (events == c->events)
		return;
	c->events = events;
	if (events == 0) {
		(void)uv_poll_stop(&c->poll);
	} else {
		(void)uv_poll_start(&c->poll, events, on_poll);
	}
}

/* Go on with bytes that were read before the stop, on a later turn: never re-entrant.
 */
static void on_resume(uv_timer_t *timer)
{
	msd_conn_poll_now(timer->data);
}

static void resume(struct msd_conn *c)
{
	msd_conn_poll_update(c);
	if (c->spare != NULL && !msd_conn_is_stopped(c))
		(void)uv_timer_start(&c->resume, on_resume, 0, 0);
}

void msd_conn_place(struct msd_conn *c, void *payload)
{
	if (!c->waits_for_place || c->is_closing)
		return;
	c->in.payload = payload;
	msd_conn_payload_place(c, payload != NULL ? MSD_PLACE_HERE : MSD_PLACE_SKIP);
	resume(c);
}

void msd_conn_pause(struct msd_conn *c, enum msd_pause why, bool pause)
{
	const unsigned paused = pause ? c->paused | why : c->paused & ~(unsigned)why;

	if (c->paused == paused || c->is_closing)
		return;
	c->paused = paused;
	resume(c);
}

msd_err msd_conn_open(struct msd_conn *c, struct msd_wire *w,
		      struct msd_transport transport, const struct msd_conn_ops *ops,
		      const struct msd_conn_limits *limits, void *user,
		      struct msd_diag *d)
{
	*c = (struct msd_conn){.transport = transport,
			       .user = user,
			       .wire = w,
			       .ops = ops,
			       .limits = *limits};
	msd_list_init(&c->queue);
	msd_list_init(&c->dirty_link);
	int rc = uv_poll_init(w->loop, &c->poll, transport.fd); /* sets O_NONBLOCK */
	if (rc != 0) {
		c->transport.ops->close(&c->transport);
		return msd_diag_set(d, MSD_IO, "watching a socket: %s",
				    uv_strerror(rc));
	}
	(void)uv_timer_init(w->loop, &c->resume); /* never fails */
	c->poll.data = c;
	c->resume.data = c;
	c->last_progress_ms = uv_now(w->loop);
	msd_conn_poll_update(c);
	return MSD_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_conn *c = handle->data;

	if (--c->open_handles > 0)
		return;
	msd_conn_drop_queue(c);
	msd_conn_free_body(c);
	free(c->spare);
	c->spare = NULL;
	c->ops->on_closed(c, c->close_err, c->close_why);
}

/* Tell the peer why, as far as its transport takes it now. */
static void say_farewell(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_out *o = c->ops->farewell(c, err, why);

	if (o == NULL)
		return;
	msd_conn_send(c, o);
	msd_conn_flush(c);
	if (!c->is_closing) {
		c->transport.ops->end(&c->transport, c->wire->rbuf,
				      c->wire->rbuf_bytes);
	}
}

void msd_conn_close(struct msd_conn *c, msd_err err, const char *why)
{
	if (!c->is_closing && !c->has_said_farewell && c->ops->farewell != NULL &&
	    err != MSD_OK && err != MSD_IO) {
		c->has_said_farewell = true;
		say_farewell(c, err, why);
	}
	if (c->is_closing)
		return;
	c->is_closing = true;
	c->close_err = err;
	(void)snprintf(c->close_why, sizeof(c->close_why), "%s", why);
	msd_list_remove(&c->dirty_link);
	msd_conn_close_fds(c);
	c->open_handles = 2;
	uv_close((uv_handle_t *)&c->poll, on_handle_closed);
	uv_close((uv_handle_t *)&c->resume, on_handle_closed);
	c->transport.ops->close(&c->transport);
}
