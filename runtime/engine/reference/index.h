#ifndef MSD_RUNTIME_ENGINE_REFERENCE_INDEX_H
#define MSD_RUNTIME_ENGINE_REFERENCE_INDEX_H
/* What gathers and scatters share: where the indices of input 1 point to in input 0. */
#include "runtime/engine/kernel.h"
#include "runtime/engine/walk.h"

/** A walk over the indices, an index an element; its operand 0 is at index 0 of the
 * axis, whose step and extent are *@ret_step and *@ret_n. */
void msd_index_walk(const struct msd_kernel_call *c, struct msd_walk *ret,
		    int64_t *ret_step, int64_t *ret_n);
/** The row that tuple @i points to, of those behind the axes that it names, counted
 * from the first of its stack; @stacked axes come before those. */
MSD_MUST_CHECK msd_err msd_index_tuple(const struct msd_kernel_call *c, size_t i,
				       size_t stacked, int64_t *ret,
				       struct msd_diag *d);

#endif
