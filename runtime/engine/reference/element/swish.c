/* Swish: x * sigmoid(alpha * x), times input 1 if there is one. */
#include <math.h>

#include "graph/op/element/params.h"
#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const double alpha = (double)msd_params_swish(c->node).alpha;
	const bool is_gate = msd_kernel_has(c, 1);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const double x = msd_kernel_get(c, 0, i);
		const double y = x / (1 + exp(-alpha * x));

		msd_kernel_put(c, 0, i, is_gate ? y * msd_kernel_get(c, 1, i) : y);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_swish = {"Swish", run, MSD_TAKES_FLOATS_ALONE};
