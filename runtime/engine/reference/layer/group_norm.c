/* GroupNorm: normalises each group of an image's channels to mean 0 and deviation 1.
 * LpNorm: normalises each row along an axis to length 1. */
#include <math.h>

#include "graph/op/layer/params.h"
#include "runtime/engine/reference/layer/moments.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"

struct groups {
	const struct msd_kernel_call *c;
	size_t n;        /* per image */
	size_t channels; /* per group */
	size_t plane;
	double eps;
};

/* Scale or bias of a channel of group @k from input @i. */
static double part(const struct groups *g, size_t i, size_t k, size_t channel)
{
	const bool is_each = msd_kernel_in_elements(g->c, i) == g->n * g->channels;

	return msd_kernel_get(g->c, i, is_each ? k * g->channels + channel : k);
}

static void run_groups(const void *ctx, size_t first, size_t count)
{
	const struct groups *g = ctx;
	const struct msd_dtype dtype = msd_kernel_in_dtype(g->c, 0);
	const size_t row = g->channels * g->plane;
	struct msd_moments m;

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_FOLD_ROWS ? count : MSD_FOLD_ROWS;
		msd_moments_find(dtype, g->c->in[0], first * row, n, row, g->eps, &m);
		for (size_t i = 0; i < n * g->channels; i++) {
			const size_t r = i / g->channels;
			const size_t k = (first + r) % g->n;
			const size_t channel = i % g->channels;

			const struct msd_moments_terms terms = {m.mean[r], m.inverse[r],
								part(g, 1, k, channel),
								part(g, 2, k, channel)};

			msd_moments_apply(dtype, g->c->in[0], g->c->out[0],
					  first * row + i * g->plane, g->plane, &terms);
		}
	}
}

static msd_err run_group_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_group_norm p = msd_params_group_norm(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t n = (size_t)p.num_groups;
	const struct groups g = {
		.c = c,
		.n = n,
		.channels = (size_t)dims[1] / n,
		.plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1),
		.eps = (double)p.eps,
	};

	(void)d;
	if (msd_kernel_out_elements(c, 0) > 0) {
		msd_ranges_each((size_t)dims[0] * n, 2 * g.channels * g.plane,
				run_groups, &g);
	}
	return MSD_OK;
}

/* A row of zeros stays unchanged. */
static msd_err run_lp_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_lp_norm p = msd_params_lp_norm(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(p.axis, ndim);
	const size_t n = (size_t)dims[axis];
	const size_t inner = msd_kernel_inner(dims, ndim, axis);
	const bool is_sum = p.p == 1;

	(void)d;
	for (size_t row = 0; row < msd_kernel_outer(dims, axis) * inner; row++) {
		const size_t first = row / inner * n * inner + row % inner;
		double sum = 0;

		for (size_t i = 0; i < n; i++) {
			const double v = msd_kernel_get(c, 0, first + i * inner);

			sum += is_sum ? fabs(v) : v * v;
		}
		const double length = is_sum ? sum : sqrt(sum);
		for (size_t i = 0; i < n; i++) {
			const double v = msd_kernel_get(c, 0, first + i * inner);

			msd_kernel_put(c, 0, first + i * inner,
				       length > 0 ? v / length : 0);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_group_norm = {"GroupNorm", run_group_norm,
						 MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_lp_norm = {"LpNorm", run_lp_norm,
					      MSD_TAKES_FLOATS_ALONE};
