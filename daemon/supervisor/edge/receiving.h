#ifndef MSD_SUPERVISOR_RECEIVING_H
#define MSD_SUPERVISOR_RECEIVING_H
/*
 * The call of a frame whose payload is being read, from its place in the tensor memory
 * to the queue of its module; of a session it is one at a time. While it has no room,
 * or has given some back (share.h), its connection is not read from.
 */
#include "daemon/supervisor/edge/awaiting.h"
#include "daemon/supervisor/edge/call.h"
#include "daemon/supervisor/edge/framed.h"

/** Nothing is received any more: it has become a request, or was dropped. */
static inline void msd_receiving_end(struct msd_session *s)
{
	s->receiving = NULL;
	if (s->awaiting != NULL)
		msd_awaiting_go_on(s->awaiting);
}
/** All of @r has come, and there is room for what it declares as outputs. */
static inline void msd_receiving_submit(struct msd_session *s, struct msd_req *r)
{
	msd_receiving_end(s);
	msd_call_submit(r);
}
/** Get in line for room. */
enum msd_place msd_receiving_wait(struct msd_session *s);
/** All of the call has come, and it has given room back: it is submitted when it has
 * that again. */
void msd_receiving_regain(struct msd_framed *f);

/** As msd_front_ops has them. */
void msd_receiving_on_room(struct msd_session *s);
uint64_t msd_receiving_came(struct msd_session *s);
void msd_receiving_on_reduced(struct msd_session *s);
/** As msd_conn_ops has it. */
enum msd_place msd_receiving_on_full(struct msd_conn *c, struct msd_in *in);

/** All of @r has come. */
static inline void msd_receiving_complete(struct msd_framed *f, struct msd_req *r)
{
	if (r->placement.missing_bytes == 0) {
		msd_receiving_submit(&f->session, r);
	} else {
		msd_receiving_regain(f);
	}
}

#endif
