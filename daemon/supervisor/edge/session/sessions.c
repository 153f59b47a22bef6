/*
 * Timeouts: a task checks some connections in each step, or closes one, because
 * sending the reason and dropping its data takes up to some milliseconds.
 */
#include "daemon/supervisor/edge/session/sessions.h"

#include "daemon/stream/conn.h"
#include "daemon/supervisor/edge/session/memory_share.h"
#include "daemon/supervisor/module/direct/direct.h"

#define STEP_CONNECTIONS 64u

static struct msd_session *session_of(struct msd_list *it)
{
	return MSD_CONTAINER_OF(it, struct msd_session, watch_link);
}

static bool is_awaiting(const struct msd_session *s)
{
	return s->client.n_in_flight > 0 || (s->conn->paused & MSD_PAUSE_REQUESTS) != 0;
}

/* Return why the connection must be closed now. NULL: it stays. */
static const char *look(struct msd_session *s)
{
	const struct msd_edge *e = s->edge;
	const struct msd_conn *c = s->conn;
	const struct msd_conn_timeout_view view = {
		.frames = c->n_frames,
		.bytes_in = c->bytes_in,
		.queued_bytes = c->queued_bytes,
		.last_progress_ms = c->last_progress_ms,
		.is_owed = msd_conn_is_owed(c),
		.used_ms = s->client.direct_used_ms,
		.now_ms = uv_now(e->loop),
		.away_ms = e->watch.away_ms,
		.is_awaiting = is_awaiting(s) || msd_direct_is_awaited(&s->client),
		.is_pressed = msd_conn_lingers(c) ||
			      msd_memory_share_is_pressed(s, e->watch.n_waiting),
	};
	return c->is_closing ? NULL
			     : msd_conn_timeout_look(&s->watch, &view, e->limits);
}

/* A checked connection goes to the end of the list. */
static enum msd_task_result look_on(struct msd_task *t)
{
	struct msd_edge *e = MSD_CONTAINER_OF(t, struct msd_edge, watch.round);
	const char *why = NULL;
	struct msd_list *it;

	for (unsigned n = STEP_CONNECTIONS; n > 0 && e->watch.n_left > 0 && why == NULL;
	     n--, e->watch.n_left--) {
		it = msd_list_first(&e->sessions);
		if (it == NULL)
			break;
		msd_list_remove(it);
		msd_list_append(&e->sessions, it);
		why = look(session_of(it));
		if (why != NULL)
			msd_conn_close(session_of(it)->conn, MSD_BUSY, why);
	}
	if (e->watch.n_left > 0 && !msd_list_is_empty(&e->sessions))
		return MSD_TASK_AGAIN;
	msd_sessions_watch(e);
	return MSD_TASK_DONE;
}

static void on_due(struct msd_deadline *node)
{
	struct msd_edge *e = MSD_CONTAINER_OF(node, struct msd_edge, watch.next);

	e->watch.away_ms = msd_deadline_away_ms(e->deadlines, node);
	e->watch.n_waiting = msd_memory_share_count_waiting(e);
	e->watch.n_left = 0;
	MSD_LIST_EACH (it, &e->sessions) {
		e->watch.n_left++;
	}
	e->watch.round = (struct msd_task){.step = look_on, .class = MSD_TASK_DUE};
	msd_task_begin(e->deadlines->tasks, &e->watch.round);
}

void msd_sessions_watch(struct msd_edge *e)
{
	if (msd_list_is_empty(&e->sessions) || msd_deadline_is_set(&e->watch.next) ||
	    msd_task_is_queued(&e->watch.round))
		return;
	e->watch.next.on_due = on_due;
	msd_deadline_set(e->deadlines, &e->watch.next,
			 msd_conn_timeout_every_ms(e->limits));
}

bool msd_sessions_flush(struct msd_edge *e)
{
	bool is_left = false;

	MSD_LIST_EACH (it, &e->sessions) {
		struct msd_conn *c = session_of(it)->conn;
		if (c->is_closing)
			continue;
		msd_conn_flush(c);
		is_left = is_left || c->queued_bytes > 0 ||
			  (c->paused & MSD_PAUSE_REQUESTS) != 0;
	}
	return is_left;
}

bool msd_sessions_dismiss(struct msd_edge *e)
{
	bool is_left = false;

	MSD_LIST_EACH_SAFE (it, &e->sessions) {
		struct msd_conn *c = session_of(it)->conn;

		if (!c->is_closing)
			msd_conn_poll_now(c);
		if (c->is_closing)
			continue;
		msd_conn_flush(c);
		if (c->ops->farewell == NULL)
			continue; /* its client could not be told */
		if (session_of(it)->client.n_in_flight == 0 && c->queued_bytes == 0) {
			msd_conn_close(c, MSD_DRAINING,
				       "the daemon is shutting down: requests without "
				       "an answer did not start");
		} else {
			is_left = true;
		}
	}
	return is_left;
}

void msd_sessions_close_all(struct msd_edge *e)
{
	MSD_LIST_EACH_SAFE (it, &e->sessions) {
		msd_conn_close(session_of(it)->conn, MSD_OK, "the daemon ended");
	}
}
