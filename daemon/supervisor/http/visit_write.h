#ifndef MSD_SUPERVISOR_VISIT_WRITE_H
#define MSD_SUPERVISOR_VISIT_WRITE_H
/*
 * The writing half of a visit: its answers, and behind the last of them the tensors
 * that belong to it, from where they lie.
 */
#include "daemon/supervisor/http/visit_state.h"

/** Bytes of answers that have not left. */
size_t msd_visit_unwritten(const struct msd_visit *v);
/** Write them as far as the socket takes them at once. */
void msd_visit_flush(struct msd_visit *v);
/** All is written: it waits for its peer to close, for bytes that nobody has read would
 * make its own end a reset. */
void msd_visit_linger(struct msd_visit *v);
/** There is something then, or the end: it is passed over. */
void msd_visit_read_nothing(struct msd_visit *v);
/** What it tells of its connection; as msd_front_ops.look. */
void msd_visit_look(struct msd_session *s, struct msd_front_look *ret);

#endif
