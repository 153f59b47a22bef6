#ifndef MSD_RUNTIME_ENGINE_REFERENCE_TAPS_H
#define MSD_RUNTIME_ENGINE_REFERENCE_TAPS_H
/* What each place of a resized axis is made of: places of the input, with weights. */
#include "graph/op/resize.h"
#include "runtime/engine/kernel.h"

struct msd_taps {
	size_t n; /* 0: it lies outside, and is extrapolation_value */
	int64_t *at;
	double *weight;
};

struct msd_taps_axis {
	struct msd_taps *places; /* one for each place of the output */
	int64_t *at;             /* of all of them */
	double *weight;
};

/** Those of an axis of @n places that @s makes larger or smaller, as the node's
 * parameters say. False: memory is short; @ret is to be finished all the same. */
MSD_MUST_CHECK bool msd_taps_make(const struct msd_kernel_call *c,
				  const struct msd_op_scale *s, int64_t n,
				  struct msd_taps_axis *ret);
void msd_taps_finish(struct msd_taps_axis *axis);

#endif
