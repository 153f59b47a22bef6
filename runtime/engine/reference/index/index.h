#ifndef MSD_RUNTIME_ENGINE_REFERENCE_INDEX_H
#define MSD_RUNTIME_ENGINE_REFERENCE_INDEX_H
/* Shared by gathers and scatters: the positions in input 0 to which the indices of
 * input 1 point. */
#include "runtime/kernel/kernel.h"
#include "runtime/kernel/walk.h"

/**
 * Iterate over the indices, one index per element. Operand 0 is at index 0 of the
 * axis, which has the step *@ret_step and the extent *@ret_n.
 */
void msd_index_walk(const struct msd_kernel_call *c, int64_t own_axis,
		    struct msd_walk *ret, int64_t *ret_step, int64_t *ret_n);
/**
 * Find the row that tuple @i points to. Rows span the axes after those that the tuple
 * indexes and are counted from the first of its stack; @stacked axes precede the
 * indexed ones.
 */
MSD_MUST_CHECK msd_err msd_index_tuple(const struct msd_kernel_call *c, size_t i,
				       size_t stacked, int64_t *ret,
				       struct msd_diag *d);

#endif
