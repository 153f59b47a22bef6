/*
 * A connection from open to close. conn_read.c and conn_write.c are the halves that
 * read and write.
 *
 * Happy path: open makes the poll handle, whose events go to the halves. Close tells
 * the peer the reason if it can, stops both halves, and frees the connection in steps
 * after libuv has closed the handle (daemon/loop/task.h).
 *
 * Fair shares: the received bytes mostly fit into one share. Otherwise the clock is
 * checked between two frames, and the rest waits in the list of the loop (wire.c).
 * The last bytes of a closed peer are read in the same way.
 */
#include "daemon/stream/conn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/loop/account.h"
#include "daemon/stream/codec.h"
#include "daemon/stream/conn_parts.h"

#define LAST_TURNS 1024u /* after the peer is gone: a process may send for ever */

bool msd_conn_reads_on(struct msd_conn *c)
{
	c->reads_on = c->reads_on || (c->ops->reads_on != NULL && c->ops->reads_on(c));
	return c->reads_on;
}

static void on_poll(uv_poll_t *handle, int status, int events)
{
	struct msd_conn *c = handle->data;

	if (status < 0) { /* libuv has stopped watching */
		c->events = 0;
		events = UV_READABLE | UV_WRITABLE | UV_DISCONNECT;
	}
	if ((events & UV_READABLE) != 0 && msd_conn_is_stopped(c))
		c->has_unread = true;
	/* While reading is on, the end is read behind the peer's last bytes. */
	if ((events & UV_DISCONNECT) != 0 && msd_conn_is_stopped(c) &&
	    !msd_conn_reads_on(c)) {
		msd_conn_close(c, MSD_OK, "closed by the peer");
		return;
	}
	/* A connection that was already served gets the event again. A transport with
	 * buffered bytes may have had to write before it could read more. */
	if (((events & UV_READABLE) != 0 || c->transport.ops->holds != NULL) &&
	    c->taker.turn != c->wire->count.turns)
		msd_conn_poll_now(c);
	if (!c->is_closing && (events & UV_WRITABLE) != 0) {
		if (msd_conn_may_write(c)) {
			msd_conn_flush(c);
		} else if (msd_list_is_empty(&c->dirty_link)) {
			msd_list_append(&c->wire->dirty, &c->dirty_link);
		}
	}
	/*
	 * The error may be behind bytes that were read now; the next read returns it.
	 */
	msd_conn_poll_update(c);
}

void msd_conn_poll_update(struct msd_conn *c)
{
	int events = c->wants_write ? UV_WRITABLE : 0;

	if (c->is_closing)
		return;
	c->has_unread = c->has_unread && msd_conn_is_stopped(c);
	if (!c->has_unread) {
		events |= UV_READABLE;
	} else if (!c->reads_on && c->paused != MSD_PAUSE_OUTPUT) {
		events |= UV_DISCONNECT;
	}
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

void msd_conn_resume(struct msd_conn *c)
{
	if (c->has_unread) /* otherwise the events stay */
		msd_conn_poll_update(c);
	if (msd_conn_has_bytes(c) && !msd_conn_is_stopped(c))
		msd_conn_wait_for_turn(c);
}

void msd_conn_pause(struct msd_conn *c, enum msd_pause why, bool pause)
{
	const unsigned paused = pause ? c->paused | why : c->paused & ~(unsigned)why;

	if (c->paused == paused || c->is_closing)
		return;
	c->paused = paused;
	if (paused != 0)
		msd_conn_end_turn(c);
	msd_conn_resume(c);
}

static void have_turn(struct msd_schedulable *t)
{
	msd_conn_poll_now(MSD_CONTAINER_OF(t, struct msd_conn, taker));
}

/* Free one frame; after the last one free the connection. */
static enum msd_task_result free_one(struct msd_task *t)
{
	struct msd_conn *c = MSD_CONTAINER_OF(t, struct msd_conn, ender);

	if (msd_conn_drop_frame(c) || (c->ops->release != NULL && c->ops->release(c)))
		return MSD_TASK_AGAIN;
	if (c->codec->finish != NULL)
		c->codec->finish(c);
	msd_conn_free_spare(c);
	c->ops->on_closed(c, c->close_err, c->close_why);
	return MSD_TASK_DONE;
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
			       .codec = ops->codec != NULL ? ops->codec
							   : &msd_frame_codec,
			       .limits = *limits};
	msd_list_init(&c->queue);
	msd_list_init(&c->dirty_link);
	msd_list_init(&c->taker.link);
	c->ender = (struct msd_task){
		.step = free_one, .class = MSD_TASK_FREE, .peer = transport.passer};
	if (c->limits.max_answer_objects == 0)
		c->limits.max_answer_objects = MSD_MAX_OBJECTS;
	c->taker.account = limits->shares != NULL ? limits->shares : limits->account;
	c->taker.have_turn = have_turn;
	int rc = uv_poll_init(w->loop, &c->poll, transport.fd); /* sets O_NONBLOCK */
	if (rc != 0) {
		c->transport.ops->close(&c->transport);
		return msd_diag_set(d, MSD_IO, "watching a socket: %s",
				    uv_strerror(rc));
	}
	c->poll.data = c;
	c->last_progress_ms = uv_now(w->loop);
	msd_conn_poll_update(c);
	if (msd_conn_has_bytes(c)) /* received together with the connection's setup */
		msd_conn_wait_for_turn(c);
	return MSD_OK;
}

static void on_handle_closed(uv_handle_t *handle)
{
	struct msd_conn *c = handle->data;

	msd_task_begin(&c->wire->tasks, &c->ender);
}

/* Send the peer the reason, as far as its transport takes it now. */
static void say_farewell(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_out *o = c->ops->farewell(c, err, why);

	if (o != NULL) {
		msd_conn_send(c, o);
		msd_conn_flush(c);
	}
	/* If the peer passed refused descriptors, do not drain: it could pass more. */
	if (!c->is_closing && (!c->limits.refuses_fds || c->fds.n == 0)) {
		c->transport.ops->end(&c->transport, c->wire->waste,
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
	msd_conn_end_turn(c);
	c->close_err = err;
	if (why != c->close_why)
		(void)snprintf(c->close_why, sizeof(c->close_why), "%s", why);
	msd_list_remove(&c->dirty_link);
	msd_list_remove(&c->taker.link);
	msd_conn_close_fds(c);
	uv_close((uv_handle_t *)&c->poll, on_handle_closed);
	c->transport.ops->close(&c->transport);
}

void msd_conn_linger(struct msd_conn *c)
{
	c->transport.ops->end(&c->transport, c->wire->waste, c->wire->rbuf_bytes);
	if (c->codec->finish != NULL)
		c->codec->finish(c);
	c->codec = &msd_linger_codec;
}

bool msd_conn_lingers(const struct msd_conn *c)
{
	return c->codec == &msd_linger_codec;
}

bool msd_conn_is_stopped(const struct msd_conn *c)
{
	return c->is_closing || c->paused != 0 || c->waits_for_place ||
	       c->waits_to_bring;
}

/* A cached body without payload takes a microsecond. A share with only such frames
 * that was not measured is not counted. */
void msd_conn_part_ends(struct msd_conn *c, uint64_t began_ns)
{
	const uint64_t first_ns = c->turn_ends_ns;

	if (c->taker.account == NULL || (began_ns == 0 && first_ns == 0) ||
	    (first_ns == 0 && c->framing.in.known != NULL &&
	     c->framing.in.payload_bytes == 0))
		return;
	if (began_ns == 0)
		began_ns = first_ns - MSD_CONN_TURN_US * 1000u;
	msd_account_spend(c->taker.account, msd_wire_look_ns(c->wire) - began_ns);
}

void msd_conn_spend_time(struct msd_conn *c)
{
	if (!c->limits.takes_turns)
		return;
	const uint64_t now = msd_wire_look_ns(c->wire);
	if (c->turn_ends_ns == 0) {
		c->turn_ends_ns = now + MSD_CONN_TURN_US * 1000u;
	} else if (now >= c->turn_ends_ns) {
		msd_conn_end_turn(c);
	}
}

/* True if no more bytes will arrive from the closed peer, or it sent too much. */
static bool is_heard(struct msd_conn *c, bool has_more)
{
	return msd_conn_is_stopped(c) || --c->last_turns == 0 ||
	       (!has_more && !msd_conn_has_bytes(c));
}

void msd_conn_settle_turn(struct msd_conn *c, bool has_more)
{
	if (c->is_closing)
		return;
	if (c->is_ending && is_heard(c, has_more)) {
		msd_conn_close(c, c->close_err, c->close_why);
	} else if (!msd_conn_is_stopped(c)) {
		msd_conn_wait_for_turn(c);
	}
}

void msd_conn_hear_out(struct msd_conn *c, msd_err err, const char *why)
{
	if (c->is_closing || c->is_ending)
		return;
	c->is_ending = true;
	c->last_turns = LAST_TURNS;
	c->close_err = err;
	(void)snprintf(c->close_why, sizeof(c->close_why), "%s", why);
	msd_list_remove(&c->dirty_link);
	c->queued_bytes = 0; /* nothing is written any more */
	if (c->limits.takes_turns) {
		msd_conn_wait_for_turn(c);
	} else {
		msd_conn_poll_now(c);
	}
}

bool msd_conn_keep_spare(struct msd_conn *c, const uint8_t *p, size_t n)
{
	uint8_t *copy = malloc(n);

	if (copy == NULL)
		return false;
	memcpy(copy, p, n);
	c->spare = copy;
	c->spare_at = 0;
	c->n_spare = n;
	if (c->limits.account != NULL)
		msd_account_read_ahead(c->limits.account, n);
	return true;
}

void msd_conn_free_spare(struct msd_conn *c)
{
	if (c->spare == NULL)
		return;
	if (c->limits.account != NULL)
		msd_account_served(c->limits.account, c->n_spare);
	free(c->spare);
	c->spare = NULL;
}
