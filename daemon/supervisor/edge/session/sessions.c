#include "daemon/supervisor/edge/session/sessions.h"

#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/edge/session/memory_share.h"
#include "daemon/supervisor/module/direct/direct.h"

static uint64_t count_waiting(struct msd_conn_watch *w)
{
	return msd_memory_share_count_waiting(
		MSD_CONTAINER_OF(w, struct msd_edge, watch));
}

/* Return why the connection must be closed now. NULL: it stays. */
static const char *look(struct msd_list *it, uint64_t n_waiting, uint64_t away_ms)
{
	struct msd_frame_session *f =
		MSD_CONTAINER_OF(it, struct msd_frame_session, link);
	const struct msd_session *s = &f->session;
	const struct msd_conn_timeout_view view = {
		.frames = f->conn.n_frames,
		.bytes_in = f->conn.bytes_in,
		.queued_bytes = f->conn.queued_bytes,
		.last_progress_ms = f->conn.last_progress_ms,
		.is_owed = msd_conn_is_owed(&f->conn),
		.used_ms = s->client.direct_used_ms,
		.now_ms = uv_now(s->edge->loop),
		.away_ms = away_ms,
		.is_awaiting =
			s->client.n_in_flight > 0 || msd_direct_is_awaited(&s->client),
		.is_pressed = msd_memory_share_is_pressed(s, n_waiting),
	};
	return f->conn.is_closing
		       ? NULL
		       : msd_conn_timeout_look(&f->watch, &view, s->edge->limits);
}

static void close_late(struct msd_list *it, const char *why)
{
	msd_conn_close(&MSD_CONTAINER_OF(it, struct msd_frame_session, link)->conn,
		       MSD_BUSY, why);
}

void msd_sessions_watch(struct msd_edge *e)
{
	static const struct msd_conn_watch_ops ops = {count_waiting, look, close_late};

	msd_conn_watch_begin(&e->watch, e->deadlines, e->limits, &e->sessions, &ops);
}

bool msd_sessions_flush(struct msd_edge *e)
{
	bool is_left = false;

	MSD_LIST_EACH (it, &e->sessions) {
		struct msd_conn *c =
			&MSD_CONTAINER_OF(it, struct msd_frame_session, link)->conn;
		msd_conn_flush(c);
		is_left = is_left || c->queued_bytes > 0;
	}
	return is_left;
}

bool msd_sessions_dismiss(struct msd_edge *e)
{
	bool is_left = false;

	MSD_LIST_EACH_SAFE (it, &e->sessions) {
		struct msd_frame_session *f =
			MSD_CONTAINER_OF(it, struct msd_frame_session, link);
		struct msd_conn *c = &f->conn;

		if (!c->is_closing)
			msd_conn_poll_now(c);
		if (c->is_closing)
			continue;
		msd_conn_flush(c);
		if (f->session.client.n_in_flight == 0 && c->queued_bytes == 0) {
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
		msd_conn_close(
			&MSD_CONTAINER_OF(it, struct msd_frame_session, link)->conn,
			MSD_OK, "the daemon ended");
	}
}
