#include "runtime/kernel/kernels.h"

static msd_err run_relu6(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const float *x = msd_kernel_in(c, 0);
	float *y = msd_kernel_out(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++)
		y[i] = x[i] < 0 ? 0 : x[i] > 6 ? 6 : x[i];
	return MSD_OK;
}

const struct msd_kernel msd_kernel_relu6 = {"ReLu6", run_relu6, MSD_TAKES_FLOAT32};
