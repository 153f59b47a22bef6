/* FullyConnected: x times the transposed weights, and a bias. */
#include "runtime/engine/kernels.h"

struct product {
	const float *x;
	const float *w;
	const float *bias;
	float *y;
	size_t n_out;
	size_t depth;
};

static void run_element(const void *ctx, size_t part)
{
	const struct product *p = ctx;
	const size_t o = part % p->n_out;
	const float *x = p->x + part / p->n_out * p->depth;
	const float *w = p->w + o * p->depth;
	double sum = p->bias != NULL ? (double)p->bias[o] : 0;

	for (size_t i = 0; i < p->depth; i++)
		sum += (double)x[i] * (double)w[i];
	p->y[part] = (float)sum;
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const struct product p = {
		.x = msd_kernel_in(c, 0),
		.w = msd_kernel_in(c, 1),
		.bias = modser_sg_node_input(c->node, 2) != NULL ? msd_kernel_in(c, 2)
								 : NULL,
		.y = msd_kernel_out(c, 0),
		.n_out = (size_t)out[1],
		.depth = (size_t)msd_kernel_in_dims(c, 1)[1],
	};

	(void)d;
	msd_kernel_each((size_t)(out[0] * out[1]), run_element, &p);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_fully_connected = {"FullyConnected", run,
						      MSD_TAKES_FLOAT32};
