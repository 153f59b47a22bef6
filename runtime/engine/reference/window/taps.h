#ifndef MSD_RUNTIME_ENGINE_REFERENCE_TAPS_H
#define MSD_RUNTIME_ENGINE_REFERENCE_TAPS_H
/* The taps of each position of a resized axis: input positions with weights. */
#include "graph/op/move/resize.h"
#include "runtime/kernel/kernel.h"

struct msd_taps {
	size_t n; /* 0: outside, uses extrapolation_value */
	int64_t *at;
	double *weight;
};

struct msd_taps_axis {
	struct msd_taps *places; /* one per output position */
	int64_t *at;             /* indices of all positions */
	double *weight;
};

/**
 * Compute the taps for an axis of @n positions that @s resizes, as the node's
 * parameters say. False: memory is short; finish @ret in any case.
 */
MSD_MUST_CHECK bool msd_taps_make(const struct msd_kernel_call *c,
				  const struct msd_op_scale *s, int64_t n,
				  struct msd_taps_axis *ret);
void msd_taps_finish(struct msd_taps_axis *axis);

#endif
