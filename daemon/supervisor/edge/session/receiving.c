#include "daemon/supervisor/edge/session/receiving.h"

#include "daemon/supervisor/edge/session/memory_share.h"

enum msd_place msd_receiving_wait(struct msd_session *s)
{
	msd_memory_share_wait(s);
	return MSD_PLACE_LATER;
}

/* Continue to read an incomplete payload, or submit a complete call. */
static void go_on(struct msd_frame_session *f, struct msd_req *r)
{
	struct msd_session *s = &f->session;

	msd_list_remove(&s->space_link);
	if (f->conn.waits_for_place && f->conn.in.user == r) {
		msd_conn_place(&f->conn, r->placement.slot.p);
	} else {
		msd_receiving_submit(s, r);
		msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, false);
	}
}

void msd_receiving_on_room(struct msd_session *s)
{
	struct msd_frame_session *f = msd_frame_session_of(s);
	struct msd_req *r = s->receiving;
	struct msd_diag d = {0};
	const msd_err err =
		msd_memory_share_reserve(s, r, f->conn.in.payload_bytes, &d);

	if (err == MSD_OK) {
		go_on(f, r);
	} else if (err != MSD_WAIT) {
		msd_req_refuse(r, err, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

uint64_t msd_receiving_came(struct msd_session *s)
{
	return msd_frame_session_of(s)->conn.have;
}

void msd_receiving_on_reduced(struct msd_session *s)
{
	msd_conn_narrow(&msd_frame_session_of(s)->conn,
			s->receiving->placement.slot.bytes);
}

enum msd_place msd_receiving_on_full(struct msd_conn *c, struct msd_in *in)
{
	struct msd_frame_session *f = c->user;

	(void)in; /* continues in msd_receiving_on_room() */
	return msd_receiving_wait(&f->session);
}

void msd_receiving_regain(struct msd_frame_session *f)
{
	msd_conn_pause(&f->conn, MSD_PAUSE_ROOM, true);
	(void)msd_receiving_wait(&f->session);
}
