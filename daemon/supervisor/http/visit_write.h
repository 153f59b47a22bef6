#ifndef MSD_SUPERVISOR_VISIT_WRITE_H
#define MSD_SUPERVISOR_VISIT_WRITE_H
/*
 * The writing half of a visit: its answers, and behind the last of them the tensors
 * that belong to it, from where they lie.
 */
#include "daemon/supervisor/http/visit.h"

/** Bytes of answers that have not left. */
size_t msd_visit_unwritten(const struct msd_visit *v);
/** Write them as far as the socket takes them at once. */
void msd_visit_flush(struct msd_visit *v);

#endif
