/* MeanVarianceNormalization: normalises elements that differ only in the given axes
 * to mean 0 and deviation 1. */
#include <math.h>
#include <stdlib.h>

#include "graph/op/layer/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

struct group {
	double sum;
	double squares;
};

/* ONNX adds this to the deviation. */
#define LEAST 1e-9

/* Strides of a tensor with one element per group. Returns the number of groups. */
static size_t lay(const struct msd_kernel_call *c, int64_t *steps)
{
	const struct msd_ints axes = msd_params_mean_variance(c->node).axes;
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	bool is_named[MODSER_GRAPH_MAX_NDIM] = {false};
	size_t n = 1;

	for (size_t i = 0; i < axes.n; i++)
		is_named[msd_kernel_axis(axes.at[i], ndim)] = true;
	for (size_t i = ndim; i > 0; i--) {
		steps[i - 1] = is_named[i - 1] ? 0 : (int64_t)n;
		n *= is_named[i - 1] ? 1 : (size_t)dims[i - 1];
	}
	return n;
}

typedef void visit_fn(const struct msd_kernel_call *c, size_t i, struct group *g,
		      double n);

static void add(const struct msd_kernel_call *c, size_t i, struct group *g, double n)
{
	(void)n;
	g->sum += msd_kernel_get(c, 0, i);
}

static void add_square(const struct msd_kernel_call *c, size_t i, struct group *g,
		       double n)
{
	const double v = msd_kernel_get(c, 0, i) - g->sum / n;

	g->squares += v * v;
}

static void put(const struct msd_kernel_call *c, size_t i, struct group *g, double n)
{
	const double v = msd_kernel_get(c, 0, i) - g->sum / n;

	msd_kernel_put(c, 0, i, v / (sqrt(g->squares / n) + LEAST));
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	static visit_fn *const visits[] = {add, add_square, put};
	const size_t all = msd_kernel_in_elements(c, 0);
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};
	const size_t n = lay(c, steps);
	struct group *groups = calloc(n + 1, sizeof(*groups));
	struct msd_walk w;

	if (groups == NULL)
		return msd_diag_no_memory(d);
	msd_walk_init(&w, msd_kernel_in_dims(c, 0), msd_kernel_in_ndim(c, 0));
	msd_walk_operand(&w, steps, 0);
	for (size_t pass = 0; pass < sizeof(visits) / sizeof(visits[0]); pass++) {
		for (size_t i = 0; i < all; i++) {
			visits[pass](c, i, &groups[msd_walk_place(&w, 0, i)],
				     (double)all / (double)n);
		}
	}
	free(groups);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_mean_variance = {"MeanVarianceNormalization", run,
						    MSD_TAKES_FLOATS};
