#ifndef MSD_SUPERVISOR_VISIT_WRITE_H
#define MSD_SUPERVISOR_VISIT_WRITE_H
/* The output of an HTTP connection: its replies, and after the last reply its
 * tensors, in place. */
#include "daemon/supervisor/http/visit_state.h"

/** Bytes of replies that are not sent yet. */
size_t msd_visit_unwritten(const struct msd_visit *v);
/** Write as much as the socket accepts without blocking. */
void msd_visit_flush(struct msd_visit *v);
/**
 * All is written: wait for the peer to close, because closing with unread bytes would
 * send a reset.
 */
void msd_visit_linger(struct msd_visit *v);
/** Data or the end of the stream has arrived: discard it. */
void msd_visit_read_nothing(struct msd_visit *v);
/** Report its connection's state; see msd_front_ops.look. */
void msd_visit_look(struct msd_session *s, struct msd_front_look *ret);

#endif
