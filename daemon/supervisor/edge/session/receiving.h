#ifndef MSD_SUPERVISOR_RECEIVING_H
#define MSD_SUPERVISOR_RECEIVING_H
/*
 * The call that a session receives, from the reservation of its room to the queue of
 * its module, by frames or by HTTP: the actions of call_step.h. A session has at most
 * one. While it has no room, or has given some back (memory_share.h), its connection
 * is not read.
 *
 * msd_session.call is its state, msd_session.receiving the request. Both are reset
 * when it is queued or over.
 */
#include "daemon/supervisor/edge/session/session.h"

/**
 * Reserve room for @r, which was prepared (call.h). Without a payload it is submitted.
 * With one the state is RESERVED, and the frontend fills its slot, then calls
 * msd_receiving_part() or msd_receiving_whole(). Without room the state is WAITING
 * until msd_frontend_ops.fill. Other errors: it was dropped.
 */
MSD_MUST_CHECK msd_err msd_receiving_begin(struct msd_session *s, struct msd_req *r,
					   uint64_t payload_bytes, struct msd_diag *d);
/** A part of its payload is still to arrive. */
void msd_receiving_part(struct msd_session *s);
/**
 * All of its payload has arrived: it is submitted. Returns false if room for its
 * outputs was given back meanwhile: it waits for that, then is submitted.
 */
bool msd_receiving_whole(struct msd_session *s);
/** The rest of its payload has no room any more: it waits for that. */
void msd_receiving_full(struct msd_session *s);
/** There may be room for it. */
void msd_receiving_retry(struct msd_session *s);
/** It was answered, or its client is gone. */
void msd_receiving_ended(struct msd_session *s);

#endif
