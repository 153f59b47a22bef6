/*
 * Happy path: a connection waits for room, other clients release theirs, and it is
 * tried again in a later loop iteration. Failures: while connections wait, a slow
 * payload that holds room is measured and reduced. It is rejected if it is almost
 * complete but stalls, or if it waited too long for the room that it released.
 */
#include "daemon/supervisor/edge/session/memory_share.h"

#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/call.h"
#include "daemon/supervisor/edge/session/receiving.h"

#define LOOK_MS 50u       /* precision of MSD_MEMORY_SHARE_PATIENCE_MS */
#define SILENCE_MS 1000u  /* without progress, then rejected */
#define STEP_BYTES 65536u /* a reduced one waits for more room after these bytes */

static void on_slow_due(struct msd_deadline *node);

void msd_memory_share_init(struct msd_edge *e)
{
	msd_list_init(&e->space_waiters);
	e->slow.on_due = on_slow_due;
}

void msd_memory_share_wait(struct msd_session *s)
{
	struct msd_edge *e = s->edge;

	msd_list_append(&e->space_waiters, &s->space_link);
	s->pace.since_ms = uv_now(e->loop);
	if (s->receiving->placement.missing_bytes > 0)
		e->budget->on_room(e->budget); /* the room may be free already */
	if (!msd_deadline_is_set(&e->slow))
		msd_deadline_set(e->deadlines, &e->slow, 0);
}

uint64_t msd_memory_share_count_waiting(const struct msd_edge *e)
{
	uint64_t n = 0;

	MSD_LIST_EACH (it, &e->space_waiters) {
		const struct msd_session *s =
			MSD_CONTAINER_OF(it, struct msd_session, space_link);
		n += msd_session_wants_room(s);
	}
	return n;
}

static bool waits(const struct msd_session *s)
{
	return !msd_list_is_empty(&s->space_link) && msd_session_wants_room(s);
}

static uint64_t count_others(const struct msd_session *s)
{
	const struct msd_edge *e = s->edge;
	const uint64_t n =
		e->n_waiting > 0 ? e->n_waiting : msd_memory_share_count_waiting(e);

	return n - waits(s);
}

bool msd_memory_share_is_pressed(const struct msd_session *s, uint64_t n_waiting)
{
	const struct msd_req *r = s->receiving;

	return n_waiting > 0 && r != NULL && r->placement.budget != NULL &&
	       r->placement.wanted_bytes > s->edge->budget->max_bytes / (n_waiting + 1);
}

static bool is_over(const struct msd_session *s, const struct msd_req *r)
{
	const uint64_t held = s->client.tensor_bytes;

	if (held == 0 || r->placement.budget != NULL)
		return false; /* or it has its memory and waits for its module */
	const uint64_t n_sharing = count_others(s) + 1;
	return n_sharing > 1 && held + r->placement.wanted_bytes >
					s->edge->budget->max_bytes / n_sharing;
}

msd_err msd_memory_share_reserve(struct msd_session *s, struct msd_req *r,
				 uint64_t payload_bytes, struct msd_diag *d)
{
	if (r->placement.wanted_bytes == 0)
		return MSD_OK;
	if (r->placement.missing_bytes > 0)
		return msd_call_restore(s, r, payload_bytes, s->front->came(s), d);
	return is_over(s, r) ? MSD_WAIT : msd_call_reserve(s, r, payload_bytes, d);
}

/*
 * Try waiters in order of arrival: a large one, or one that waits for its module, does
 * not block a small one behind it. Count them only once, because there may be many.
 * Only a waiter that gets room takes time.
 */
bool msd_memory_share_retry(struct msd_edge *e)
{
	bool has_placed = false;

	e->n_waiting = msd_memory_share_count_waiting(e);
	MSD_LIST_EACH_SAFE (it, &e->space_waiters) {
		struct msd_session *s =
			MSD_CONTAINER_OF(it, struct msd_session, space_link);
		msd_receiving_retry(s);
		has_placed = !waits(s);
		if (has_placed)
			break;
	}
	e->n_waiting = 0;
	return has_placed && !msd_list_is_empty(&e->space_waiters);
}

/* Return the bytes that should arrive in MSD_MEMORY_SHARE_PATIENCE_MS. */
static uint64_t least_bytes(const struct msd_session *s)
{
	const uint64_t parts =
		s->edge->limits->read_stall_ms / MSD_MEMORY_SHARE_PATIENCE_MS;

	return s->receiving->placement.wanted_bytes / (parts + 1) + 1;
}

static void refuse(struct msd_session *s, const char *why)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_BUSY, "%s: send it again later", why);
	d.retry_after_ms = SILENCE_MS;
	msd_req_refuse_for(s->receiving, &d);
	msd_diag_finish(&d);
}

/* @s has been too slow for @slow_ms and received @n_bytes in that time. */
static void press(struct msd_session *s, uint64_t n_waiting, uint64_t slow_ms,
		  uint64_t n_bytes)
{
	struct msd_req *r = s->receiving;
	const uint64_t share = s->edge->budget->max_bytes / (n_waiting + 1);
	uint64_t keep = s->front->came(s) + STEP_BYTES;

	if (!msd_memory_share_is_pressed(s, n_waiting))
		return;
	if (keep < share)
		keep = share;
	if (keep < r->placement.wanted_bytes) {
		msd_req_reduce(r, keep);
		if (s->front->on_reduced != NULL)
			s->front->on_reduced(s);
	} else if (slow_ms >= SILENCE_MS && n_bytes < STEP_BYTES) {
		refuse(s, "others wait for the memory of a payload that makes no "
			  "progress");
	} else if (slow_ms >= SILENCE_MS) {
		s->pace.since_ms = 0;
	}
}

/* The request holds a part and has waited too long for the rest. Other requests may
 * wait for its part. */
static void look_at_waiting(struct msd_session *s, uint64_t now_ms)
{
	if (s->receiving->placement.missing_bytes > 0 &&
	    now_ms - s->pace.since_ms > s->edge->limits->read_stall_ms)
		refuse(s, "its memory has not become free again (--read-stall)");
}

static void look_at(struct msd_session *s, uint64_t n_waiting, uint64_t now_ms)
{
	const struct msd_req *r = s->receiving;

	if (r == NULL || r->placement.budget == NULL) {
		s->pace.since_ms = 0;
		return;
	}
	if (!msd_list_is_empty(&s->space_link)) {
		look_at_waiting(s, now_ms);
		return;
	}
	const uint64_t in_bytes = s->conn->bytes_in;
	const uint64_t n_bytes = in_bytes - s->pace.in_bytes;
	if (s->pace.since_ms == 0 || s->pace.id != r->client.id ||
	    n_bytes >= least_bytes(s)) {
		s->pace.id = r->client.id;
		s->pace.in_bytes = in_bytes;
		s->pace.since_ms = now_ms;
	} else if (now_ms - s->pace.since_ms >= MSD_MEMORY_SHARE_PATIENCE_MS) {
		press(s, n_waiting, now_ms - s->pace.since_ms, n_bytes);
	}
}

static void on_slow_due(struct msd_deadline *node)
{
	struct msd_edge *e = MSD_CONTAINER_OF(node, struct msd_edge, slow);
	const uint64_t n_waiting = msd_memory_share_count_waiting(e);
	const uint64_t away_ms = msd_deadline_away_ms(e->deadlines, node);

	if (n_waiting == 0)
		return;
	MSD_LIST_EACH_SAFE (it, &e->everybody) {
		struct msd_session *s = MSD_CONTAINER_OF(it, struct msd_session, link);
		if (s->pace.since_ms > 0)
			s->pace.since_ms += away_ms;
		look_at(s, n_waiting, uv_now(e->loop));
	}
	msd_deadline_set(e->deadlines, node, LOOK_MS);
}
