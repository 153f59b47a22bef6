/*
 * Happy path: the room of a call is reserved, the frontend puts its payload there, and
 * it is submitted. Failures: it waits for room, and may give some back while its
 * payload arrives; it can never have room, or ends before it is complete.
 */
#include "daemon/supervisor/edge/session/receiving.h"

#include "daemon/supervisor/edge/objects/dependents.h"
#include "daemon/supervisor/edge/session/call.h"
#include "daemon/supervisor/edge/session/memory_share.h"

/* The session may receive another call. */
static void leave(struct msd_session *s)
{
	s->receiving = NULL;
	s->call = MSD_CALL_READ;
	msd_list_remove(&s->space_link);
	if (s->awaiting != NULL)
		msd_dependents_go_on(s->awaiting);
}

/* Returns the actions of the event. */
static inline unsigned move(struct msd_session *s, enum msd_call_event e)
{
	const struct msd_call_move to = msd_call_step(s->call, e);

	s->call = (enum msd_call_state)to.to;
	return to.actions;
}

static void apply(struct msd_session *s, enum msd_call_event e)
{
	const unsigned actions = move(s, e);
	struct msd_req *r = s->receiving;

	if ((actions & MSD_CALL_WAIT) != 0)
		msd_memory_share_wait(s);
	if (s->call == MSD_CALL_QUEUED || s->call == MSD_CALL_OVER)
		leave(s);
	if ((actions & MSD_CALL_SUBMIT) != 0)
		msd_call_submit(r);
}

msd_err msd_receiving_begin(struct msd_session *s, struct msd_req *r,
			    uint64_t payload_bytes, struct msd_diag *d)
{
	if (r->placement.wanted_bytes == 0) { /* it passes all states at once */
		if (s->awaiting != NULL)
			msd_dependents_go_on(s->awaiting);
		msd_call_submit(r);
		return MSD_OK;
	}
	const msd_err err = msd_memory_share_reserve(s, r, payload_bytes, d);
	s->receiving = r;
	s->receiving_bytes = payload_bytes;
	(void)move(s, MSD_CALL_ALLOWED); /* the room was asked for already */
	if (err == MSD_OK) {
		(void)move(s, MSD_CALL_ROOM);
		if (payload_bytes == 0)
			apply(s, MSD_CALL_WHOLE);
		return MSD_OK;
	}
	apply(s, err == MSD_WAIT ? MSD_CALL_NO_ROOM : MSD_CALL_REFUSED);
	if (err == MSD_WAIT)
		return MSD_OK;
	msd_call_drop(r, err);
	return err;
}

void msd_receiving_part(struct msd_session *s)
{
	(void)move(s, MSD_CALL_PART);
}

bool msd_receiving_whole(struct msd_session *s)
{
	const bool has_room = s->receiving->placement.missing_bytes == 0;

	apply(s, has_room ? MSD_CALL_WHOLE : MSD_CALL_FULL);
	return has_room;
}

void msd_receiving_full(struct msd_session *s)
{
	apply(s, MSD_CALL_FULL);
}

void msd_receiving_retry(struct msd_session *s)
{
	struct msd_req *r = s->receiving;
	const uint8_t *was = r->placement.slot.p;
	struct msd_diag d = {0};
	const msd_err err = msd_memory_share_reserve(s, r, s->receiving_bytes, &d);

	if (err == MSD_OK) {
		msd_list_remove(&s->space_link);
		(void)move(s, MSD_CALL_ROOM);
		apply(s, s->front->fill(s, was) ? MSD_CALL_WHOLE : MSD_CALL_PART);
		s->front->on_resumed(s);
	} else if (err != MSD_WAIT) { /* its answer ends it */
		msd_req_refuse(r, err, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

void msd_receiving_ended(struct msd_session *s)
{
	apply(s, MSD_CALL_ENDED);
}
