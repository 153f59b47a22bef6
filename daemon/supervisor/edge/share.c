#include "daemon/supervisor/edge/share.h"

#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/edge.h"
#include "proto/clock.h"

#define TURN_NS UINT64_C(1000000) /* of those that get their room */

uint64_t msd_share_count_waiting(const struct msd_edge *e)
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
	const uint64_t n = e->n_waiting > 0 ? e->n_waiting : msd_share_count_waiting(e);

	return n - waits(s);
}

bool msd_share_is_pressed(const struct msd_session *s, uint64_t n_waiting)
{
	const struct msd_req *r = s->receiving;

	return n_waiting > 0 && r != NULL && r->placement.budget != NULL &&
	       r->placement.wanted_bytes > s->edge->budget->max_bytes / (n_waiting + 1);
}

static bool is_over(const struct msd_session *s, const struct msd_req *r)
{
	const uint64_t held = s->client.tensor_bytes;

	if (held == 0 || r->placement.budget != NULL)
		return false; /* or it has its memory, and waits for its module */
	const uint64_t n_others = count_others(s);
	return n_others > 0 && held + r->placement.wanted_bytes >
				       s->edge->budget->max_bytes / (n_others + 1);
}

msd_err msd_share_place(struct msd_session *s, struct msd_req *r,
			uint64_t payload_bytes, struct msd_diag *d)
{
	if (r->placement.wanted_bytes == 0)
		return MSD_OK;
	return is_over(s, r) ? MSD_WAIT : msd_call_place(s, r, payload_bytes, d);
}

/* All that wait are tried, in the order in which they came: a large one does not stop a
 * small one behind it, nor one that waits for its module. They may be many, so that
 * they are counted once; who gets its room takes time, who does not takes none. */
bool msd_share_retry(struct msd_edge *e)
{
	const uint64_t until_ns = msd_now_ns() + TURN_NS;
	bool is_over = false;

	e->n_waiting = msd_share_count_waiting(e);
	MSD_LIST_EACH_SAFE (it, &e->space_waiters) {
		struct msd_session *s =
			MSD_CONTAINER_OF(it, struct msd_session, space_link);
		const bool waited = msd_session_wants_room(s);
		s->front->on_room(s);
		if (waits(s))
			continue;
		e->n_waiting -= waited && e->n_waiting > 0;
		is_over = msd_now_ns() >= until_ns;
		if (is_over)
			break;
	}
	e->n_waiting = 0;
	return is_over && !msd_list_is_empty(&e->space_waiters);
}
