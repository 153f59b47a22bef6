#include "daemon/supervisor/edge/share.h"

#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/edge.h"

static uint64_t held_bytes(const struct msd_session *s)
{
	uint64_t sum = 0;

	MSD_LIST_EACH (it, &s->client.requests) {
		const struct msd_req *r =
			MSD_CONTAINER_OF(it, struct msd_req, client.link);
		sum += r->placement.budget != NULL ? r->placement.wanted_bytes : 0;
	}
	return sum;
}

uint64_t msd_share_count_waiting(const struct msd_edge *e,
				 const struct msd_session *but)
{
	uint64_t n = 0;

	MSD_LIST_EACH (it, &e->space_waiters) {
		const struct msd_session *s =
			MSD_CONTAINER_OF(it, struct msd_session, space_link);
		n += s != but && msd_session_wants_room(s);
	}
	return n;
}

bool msd_share_is_pressed(const struct msd_session *s, uint64_t n_waiting)
{
	const struct msd_req *r = s->receiving;

	return n_waiting > 0 && r != NULL && r->placement.budget != NULL &&
	       r->placement.wanted_bytes > s->edge->budget->max_bytes / (n_waiting + 1);
}

static bool is_over(const struct msd_session *s, const struct msd_req *r)
{
	if (r->placement.budget != NULL)
		return false; /* it has its memory, and waits for its module */
	const uint64_t n_others = msd_share_count_waiting(s->edge, s);
	if (n_others == 0)
		return false;
	const uint64_t held = held_bytes(s);
	return held > 0 && held + r->placement.wanted_bytes >
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
 * small one behind it, nor one that waits for its module. */
void msd_share_retry(struct msd_edge *e)
{
	MSD_LIST_EACH_SAFE (it, &e->space_waiters) {
		struct msd_session *s =
			MSD_CONTAINER_OF(it, struct msd_session, space_link);
		s->front->on_room(s);
	}
}
