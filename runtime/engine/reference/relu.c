/* ReLu, ReLu6 and PReLU. */
#include "runtime/engine/kernels.h"

static msd_err run_relu(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);
	const float slope = msd_kernel_float(c, "negative_slope");

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const float v = c->in[0][i];

		c->out[0][i] = v > 0 ? v : v * slope;
	}
	return MSD_OK;
}

static msd_err run_relu6(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const float v = c->in[0][i];

		c->out[0][i] = v < 0 ? 0 : v > 6 ? 6 : v;
	}
	return MSD_OK;
}

/* One slope for each channel, or one for all. */
static msd_err run_prelu(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	const size_t n_slopes = msd_kernel_in_elements(c, 1);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const float v = c->in[0][i];
		const float slope = c->in[1][i / plane % n_slopes];

		c->out[0][i] = v > 0 ? v : v * slope;
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_relu = {"ReLu", run_relu};
const struct msd_kernel msd_kernel_relu6 = {"ReLu6", run_relu6};
const struct msd_kernel msd_kernel_prelu = {"PReLU", run_prelu};
