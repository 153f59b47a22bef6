#include "daemon/supervisor/edge/session/memory_pressure.h"

#include <stdio.h>

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"

/*
 * Happy path: a frame takes the session over its memory limit, and the daemon stops
 * reading from it. The client reads its replies or other clients release memory, and
 * a later loop iteration resumes the session. Failures: if its memory does not shrink
 * by a PROGRESS_PART in time, the session is closed.
 */

#define STEP_SESSIONS 64u /* resumed at a time */
#define PROGRESS_PART 64u /* fraction of the held memory: gives a slow reader time */

/* The written part of the first frame counts as released. */
static uint64_t held_bytes(const struct msd_frame_session *f)
{
	const uint64_t used = msd_account_kept(&f->session.client.account);
	const uint64_t out = f->conn.written;

	return used > out ? used - out : 0;
}

static void mark(struct msd_frame_session *f)
{
	f->pressure.bytes = held_bytes(f);
	f->pressure.since_ms = uv_now(f->session.edge->loop);
}

void msd_memory_pressure_stop(struct msd_frame_session *f)
{
	if (!msd_list_is_empty(&f->pressure.link))
		return;
	mark(f);
	msd_list_append(&f->session.edge->held_back, &f->pressure.link);
	msd_conn_pause(&f->conn, MSD_PAUSE_MEMORY, true);
}

static enum msd_task_result resume(struct msd_task *t)
{
	struct msd_edge *e = MSD_CONTAINER_OF(t, struct msd_edge, pressure);
	unsigned n = 0;

	MSD_LIST_EACH_SAFE (it, &e->held_back) {
		struct msd_frame_session *f =
			MSD_CONTAINER_OF(it, struct msd_frame_session, pressure.link);
		if (msd_account_is_over(&f->session.client.account))
			continue;
		msd_list_remove(&f->pressure.link);
		msd_conn_pause(&f->conn, MSD_PAUSE_MEMORY, false);
		if (++n == STEP_SESSIONS)
			return MSD_TASK_AGAIN;
	}
	return MSD_TASK_DONE;
}

static enum msd_task_result end_stuck(struct msd_task *t);

static void on_room(struct msd_account *root)
{
	struct msd_edge *e = MSD_CONTAINER_OF(root, struct msd_edge, peers.account);

	if (!msd_list_is_empty(&e->held_back))
		msd_task_begin(e->deadlines->tasks, &e->pressure);
}

void msd_memory_pressure_init(struct msd_edge *e)
{
	msd_list_init(&e->held_back);
	e->pressure = (struct msd_task){.step = resume, .class = MSD_TASK_ANSWER};
	e->stuck = (struct msd_task){.step = end_stuck, .class = MSD_TASK_DUE};
	e->peers.account.on_room = on_room;
}

static void end(struct msd_frame_session *f)
{
	const struct msd_account *own = &f->session.client.account;
	char why[160];

	(void)snprintf(why, sizeof(why),
		       "holds %llu bytes of %llu (--max-connection-memory, "
		       "--max-peer-memory, --max-total-memory) and releases none",
		       (unsigned long long)own->used_bytes,
		       (unsigned long long)msd_account_limit(own));
	msd_conn_close(&f->conn, MSD_BUSY, why);
}

/* Close one session. Returns true if there are more. */
static bool end_one(struct msd_edge *e, uint64_t away_ms)
{
	const uint64_t now = uv_now(e->loop);
	unsigned n = 0;

	MSD_LIST_EACH_SAFE (it, &e->held_back) {
		struct msd_frame_session *f =
			MSD_CONTAINER_OF(it, struct msd_frame_session, pressure.link);
		const uint64_t was = f->pressure.bytes;
		if (msd_conn_is_closing(&f->conn))
			continue;
		f->pressure.since_ms += away_ms;
		if (held_bytes(f) + was / PROGRESS_PART <= was) {
			mark(f);
		} else if (now > f->pressure.since_ms + e->limits->write_stall_ms &&
			   n++ == 0) {
			end(f);
		}
	}
	return n > 1;
}

static enum msd_task_result end_stuck(struct msd_task *t)
{
	return end_one(MSD_CONTAINER_OF(t, struct msd_edge, stuck), 0) ? MSD_TASK_AGAIN
								       : MSD_TASK_DONE;
}

void msd_memory_pressure_end_stuck(struct msd_edge *e, uint64_t away_ms)
{
	while (resume(&e->pressure) == MSD_TASK_AGAIN)
		continue;
	if (end_one(e, away_ms))
		msd_task_begin(e->deadlines->tasks, &e->stuck);
}
