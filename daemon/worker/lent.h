#ifndef MSD_WORKER_LENT_H
#define MSD_WORKER_LENT_H
/*
 * Tensors in memory that a client lends, and can change while a call runs. Where they
 * lie they are used and filled; but integers that may be places in other tensors, which
 * code checks and then uses, are copied before the call.
 */
#include "daemon/worker/call.h"

/** @t lies, or is to be filled, in such memory. */
static inline bool msd_lent_has(const struct msd_wire_tensor *t)
{
	return (t->where == MSD_AT_SEGMENT || t->where == MSD_AT_OUT) &&
	       t->segment >= MSD_FIRST_LENT;
}
/** Is @t, of that kind, copied? */
bool msd_lent_is_copied(const struct msd_wire_tensor *t);
/** A copy of @t, whose bytes are at @p, for as long as the call: *@ret. */
MSD_MUST_CHECK msd_err msd_lent_copy(struct msd_call *call,
				     const struct msd_wire_tensor *t, const uint8_t *p,
				     struct msd_any *ret, struct msd_diag *d);

#endif
