/* Softmax, its logarithm and Hardmax along one axis, or along all axes from one on. */
#include <math.h>

#include "graph/op/layer/params.h"
#include "runtime/engine/reference/element/exponential.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

/* A line along the axis: @n elements from @at on, with a stride of @step. */
struct line {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t at;
	size_t n;
	size_t step;
};

typedef void line_fn(const struct line *l);

enum { KEPT = 2048 }; /* exponentials of a line that are not computed again */

static size_t load(const struct line *l, size_t i, double *ret)
{
	const size_t n = l->n - i < MSD_ROW_BLOCK ? l->n - i : MSD_ROW_BLOCK;

	msd_row_load(l->dtype, l->c->in[0], (int64_t)(l->at + i * l->step),
		     (int64_t)l->step, n, ret);
	return n;
}

static void store(const struct line *l, size_t i, size_t n, const double *v)
{
	if (l->step == 1) {
		msd_row_store(l->dtype, l->c->out[0], l->at + i, n, v);
		return;
	}
	for (size_t k = 0; k < n; k++) {
		msd_row_put(l->dtype, l->c->out[0], l->at + (i + k) * l->step, v[k]);
	}
}

static double most_of(const struct line *l)
{
	double most = -INFINITY;
	double v[MSD_ROW_BLOCK];

	for (size_t i = 0, n; i < l->n; i += n) {
		n = load(l, i, v);
		for (size_t k = 0; k < n; k++)
			most = v[k] > most ? v[k] : most;
	}
	return most;
}

/* Load a block as exponentials. */
static size_t load_powers(const struct line *l, bool is_near, size_t i, double most,
			  double *ret)
{
	const size_t n = load(l, i, ret);

	for (size_t k = 0; k < n; k++)
		ret[k] -= most;
	if (is_near) {
		msd_exp_near(ret, n);
		return n;
	}
	for (size_t k = 0; k < n; k++)
		ret[k] = exp(ret[k]);
	return n;
}

/* The relative error of results from near exponentials: sums add roundings. */
static double error_of(const struct line *l)
{
	return MSD_EXP_ERROR + (double)l->n * 0x1p-51;
}

/* False: with near exponentials, a result is not sure. */
static bool try_soft(const struct line *l, bool is_near)
{
	const double most = most_of(l);
	double kept[KEPT + MSD_ROW_BLOCK];
	double sum = 0;

	for (size_t i = 0, n; i < l->n; i += n) {
		double *v = kept + (i < KEPT ? i : KEPT);

		n = load_powers(l, is_near, i, most, v);
		for (size_t k = 0; k < n; k++)
			sum += v[k];
	}
	for (size_t i = 0, n; i < l->n; i += n) {
		double *v = kept + (i < KEPT ? i : KEPT);

		n = l->n - i < MSD_ROW_BLOCK ? l->n - i : MSD_ROW_BLOCK;
		if (i >= KEPT)
			n = load_powers(l, is_near, i, most, v);
		for (size_t k = 0; k < n; k++)
			v[k] /= sum;
		if (is_near && !msd_exp_is_sure(v, n, error_of(l), 0))
			return false;
		store(l, i, n, v);
	}
	return true;
}

static bool try_log_soft(const struct line *l, bool is_near)
{
	const double most = most_of(l);
	double v[MSD_ROW_BLOCK];
	double sum = 0;

	for (size_t i = 0, n; i < l->n; i += n) {
		n = load_powers(l, is_near, i, most, v);
		for (size_t k = 0; k < n; k++)
			sum += v[k];
	}
	const double log_sum = log(sum);
	for (size_t i = 0, n; i < l->n; i += n) {
		n = load(l, i, v);
		for (size_t k = 0; k < n; k++)
			v[k] = v[k] - most - log_sum;
		if (is_near && !msd_exp_is_sure(v, n, 0x1p-50, error_of(l)))
			return false;
		store(l, i, n, v);
	}
	return true;
}

static void soft(const struct line *l)
{
	if (!msd_row_is_single(l->dtype) || !try_soft(l, true))
		(void)try_soft(l, false);
}

static void log_soft(const struct line *l)
{
	if (!msd_row_is_single(l->dtype) || !try_log_soft(l, true))
		(void)try_log_soft(l, false);
}

/* The first of the largest elements. */
static void hard(const struct line *l)
{
	const size_t end = l->at + l->n * l->step;
	size_t best = l->at;

	for (size_t i = l->at; i < end; i += l->step) {
		const bool is_more =
			msd_kernel_get(l->c, 0, i) > msd_kernel_get(l->c, 0, best);

		msd_kernel_put(l->c, 0, i, 0);
		best = is_more ? i : best;
	}
	if (l->n > 0)
		msd_kernel_put(l->c, 0, best, 1);
}

struct lines {
	struct line line; /* the first one */
	line_fn *run;
};

static void run_lines(const void *ctx, size_t first, size_t count)
{
	const struct lines *all = ctx;
	struct line l = all->line;

	for (size_t i = first; i < first + count; i++) {
		l.at = i / l.step * l.n * l.step + i % l.step;
		all->run(&l);
	}
}

enum { COST_NS = 8 }; /* of an element */

static msd_err run(const struct msd_kernel_call *c, line_fn *line)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_softmax(c->node).axis, ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	size_t inner = msd_kernel_inner(dims, ndim, axis);
	size_t n = (size_t)dims[axis];

	if (msd_params_softmax(c->node).flattens != 0) {
		n *= inner;
		inner = 1;
	}
	const struct lines lines = {{c, msd_kernel_in_dtype(c, 0), 0, n, inner}, line};
	msd_ranges_each(outer * inner, n * COST_NS, run_lines, &lines);
	return MSD_OK;
}

static msd_err run_softmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, soft);
}

static msd_err run_log_softmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, log_soft);
}

static msd_err run_hardmax(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run(c, hard);
}

const struct msd_kernel msd_kernel_softmax = {"Softmax", run_softmax,
					      MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_log_softmax = {"LogSoftmax", run_log_softmax,
						  MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_hardmax = {"Hardmax", run_hardmax,
					      MSD_TAKES_FLOATS_ALONE};
