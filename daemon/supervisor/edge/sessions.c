#include "daemon/supervisor/edge/sessions.h"

#include "daemon/limits.h"
#include "daemon/supervisor/edge/session.h"

void msd_sessions_close_stalled(struct msd_edge *e)
{
	uint64_t now = uv_now(e->loop);

	MSD_LIST_EACH_SAFE (it, &e->sessions) {
		struct msd_conn *c =
			&MSD_CONTAINER_OF(it, struct msd_session, link)->conn;
		if (c->queued_bytes > 0 &&
		    now - c->last_progress_ms > e->limits->write_stall_ms)
			msd_conn_close(c, MSD_BUSY, "does not read its replies");
	}
}

bool msd_sessions_flush(struct msd_edge *e)
{
	bool is_left = false;

	MSD_LIST_EACH (it, &e->sessions) {
		struct msd_conn *c =
			&MSD_CONTAINER_OF(it, struct msd_session, link)->conn;
		msd_conn_flush(c);
		is_left = is_left || c->queued_bytes > 0;
	}
	return is_left;
}

void msd_sessions_close_all(struct msd_edge *e)
{
	MSD_LIST_EACH_SAFE (it, &e->sessions) {
		msd_conn_close(&MSD_CONTAINER_OF(it, struct msd_session, link)->conn,
			       MSD_OK, "the daemon ended");
	}
}
