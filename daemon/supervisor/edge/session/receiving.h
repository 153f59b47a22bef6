#ifndef MSD_SUPERVISOR_RECEIVING_H
#define MSD_SUPERVISOR_RECEIVING_H
/*
 * The call whose frame is being read, from its place in the tensor memory to the
 * queue of its module. A session has at most one. While it has no room, or has given
 * some back (memory_share.h), its connection is not read.
 */
#include "daemon/supervisor/edge/objects/dependents.h"
#include "daemon/supervisor/edge/session/call.h"
#include "daemon/supervisor/edge/session/frame_session.h"

/** Nothing is being received: the call became a request or was dropped. */
static inline void msd_receiving_end(struct msd_session *s)
{
	s->receiving = NULL;
	if (s->awaiting != NULL)
		msd_dependents_go_on(s->awaiting);
}
/** Submit @r, which is complete and has room for its declared outputs. */
static inline void msd_receiving_submit(struct msd_session *s, struct msd_req *r)
{
	msd_receiving_end(s);
	msd_call_submit(r);
}
/** Queue for room. */
enum msd_place msd_receiving_wait(struct msd_session *s);
/** The call is complete but has released room: submit it when it has the room again. */
void msd_receiving_regain(struct msd_frame_session *f);

/** These implement msd_frontend_ops. */
void msd_receiving_on_room(struct msd_session *s);
uint64_t msd_receiving_came(struct msd_session *s);
void msd_receiving_on_reduced(struct msd_session *s);
/** Implements msd_conn_ops.on_full. */
enum msd_place msd_receiving_on_full(struct msd_conn *c, struct msd_in *in);

/** All of @r has been received. */
static inline void msd_receiving_complete(struct msd_frame_session *f,
					  struct msd_req *r)
{
	if (r->placement.missing_bytes == 0) {
		msd_receiving_submit(&f->session, r);
	} else {
		msd_receiving_regain(f);
	}
}

#endif
