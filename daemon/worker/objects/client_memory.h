#ifndef MSD_WORKER_CLIENT_MEMORY_H
#define MSD_WORKER_CLIENT_MEMORY_H
/*
 * Tensors in client memory, which the client can change while a call runs. They are
 * used and filled in place. Integers that may be indices into other tensors are
 * copied before the call, because code checks them first and uses them later.
 */
#include "daemon/worker/calls/call.h"

/** True if @t is in such memory, or is to be written there. */
static inline bool msd_client_memory_has(const struct msd_wire_tensor *t)
{
	return (t->where == MSD_AT_SEGMENT || t->where == MSD_AT_OUT) &&
	       t->segment >= MSD_FIRST_LENT;
}
/** True if @t, which is in such memory, must be copied. */
bool msd_client_memory_is_copied(const struct msd_wire_tensor *t);
/** Copy @t, whose bytes are at @p, for the duration of the call: *@ret. */
MSD_MUST_CHECK msd_err msd_client_memory_copy(struct msd_call *call,
					      const struct msd_wire_tensor *t,
					      const uint8_t *p, struct msd_any *ret,
					      struct msd_diag *d);

#endif
