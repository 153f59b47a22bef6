/* Reductions over axes, in two passes if the maximum is needed first. */
#include "graph/op/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>

#include "graph/op/reduce/params.h"
#include "runtime/engine/reference/fold.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

struct sums {
	int64_t type;
	struct msd_dtype dtype;    /* dtype of the elements */
	enum msd_number_kind kind; /* type of the sums: powers of integers are floats */
	double *floats;            /* one per element of the output, if it is a float */
	int64_t *ints;             /* in the same memory */
	double *most;              /* maxima for LOG_SUM_EXP */
	double count;              /* number of elements in each */
};

/* Initial value of the reduction, also its result over no elements except for
 * end_float(). */
static union msd_number begin(const struct sums *s)
{
	const bool is_float = s->kind == MSD_N_FLOAT;

	switch (s->type) {
	case MSD_REDUCE_PROD:
		return is_float ? (union msd_number){.f = 1}
				: (union msd_number){.i = 1};
	case MSD_REDUCE_MAX:
		return msd_number_lowest(s->dtype);
	case MSD_REDUCE_MIN:
		return msd_number_highest(s->dtype);
	default:
		return is_float ? (union msd_number){.f = 0}
				: (union msd_number){.i = 0};
	}
}

static int64_t add_int(const struct sums *s, int64_t sum, int64_t v)
{
	const uint64_t u = (uint64_t)v;
	const bool is_u64 = s->kind == MSD_N_UINT64;
	const bool is_less = is_u64 ? u < (uint64_t)sum : v < sum;

	switch (s->type) {
	case MSD_REDUCE_L1:
		return (int64_t)((uint64_t)sum + (v < 0 && !is_u64 ? -u : u));
	case MSD_REDUCE_SQUARES:
	case MSD_REDUCE_L2:
		return (int64_t)((uint64_t)sum + u * u);
	case MSD_REDUCE_MAX:
		return is_less ? sum : v;
	case MSD_REDUCE_MIN:
		return is_less ? v : sum;
	case MSD_REDUCE_PROD:
		return (int64_t)((uint64_t)sum * u);
	default:
		return (int64_t)((uint64_t)sum + u);
	}
}

static double end_float(const struct sums *s, size_t i)
{
	const double v = s->floats[i];

	switch (s->type) {
	case MSD_REDUCE_MEAN:
		return v / s->count;
	case MSD_REDUCE_L2:
		return sqrt(v);
	case MSD_REDUCE_LOG_SUM:
		return log(v);
	case MSD_REDUCE_LOG_SUM_EXP:
		return isinf(s->most[i]) ? s->most[i] : log(v) + s->most[i];
	default:
		return v;
	}
}

static int64_t divide(const struct sums *s, int64_t v, int64_t n)
{
	return s->kind == MSD_N_UINT64 ? (int64_t)((uint64_t)v / (uint64_t)n) : v / n;
}

static int64_t end_int(const struct sums *s, int64_t v)
{
	switch (s->type) {
	case MSD_REDUCE_MEAN:
		return s->count > 0 ? divide(s, v, (int64_t)s->count) : 0;
	case MSD_REDUCE_L2:
		return (int64_t)sqrt((double)v);
	case MSD_REDUCE_LOG_SUM:
		return v > 0 ? (int64_t)log((double)v) : msd_number_lowest(s->dtype).i;
	default:
		return v;
	}
}

/* Set the output's strides, 0 on the reduced axes. */
static int set_walk(const struct msd_kernel_call *c, struct msd_walk *w)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	bool goes[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t step = 1;

	if (msd_op_reduce_axes(c->node, goes) != 0)
		return -1;
	for (size_t i = ndim; i > 0; i--) {
		steps[i - 1] = goes[i - 1] ? 0 : step;
		step *= goes[i - 1] ? 1 : in[i - 1];
	}
	msd_walk_init(w, in, ndim);
	msd_walk_stretch(w, in, ndim);
	msd_walk_operand(w, steps, 0);
	return 0;
}

/* A pass over all elements: the maxima for LOG_SUM_EXP, or the reduction. */
struct pass {
	const struct msd_kernel_call *c;
	const struct sums *s;
	struct msd_walk walk; /* operands: input and output */
	bool is_most;
};

/* Replace a block of elements by their terms; @step is the maxima's. */
static void make_terms(const struct pass *p, size_t at, int64_t step, double *v,
		       size_t n)
{
	const double *most = p->s->most + at;

	if (p->is_most)
		return;
	switch (p->s->type) {
	case MSD_REDUCE_L1:
		for (size_t i = 0; i < n; i++)
			v[i] = fabs(v[i]);
		return;
	case MSD_REDUCE_SQUARES:
	case MSD_REDUCE_L2:
		for (size_t i = 0; i < n; i++)
			v[i] *= v[i];
		return;
	case MSD_REDUCE_LOG_SUM_EXP:
		for (size_t i = 0; i < n; i++)
			v[i] = exp(v[i] - most[(int64_t)i * step]);
		return;
	default:
		return;
	}
}

/* Add elements to one result each. */
static void add_across(int64_t type, const double *v, size_t n, double *ret)
{
	switch (type) {
	case MSD_REDUCE_MAX:
		for (size_t i = 0; i < n; i++)
			ret[i] = v[i] > ret[i] || isnan(v[i]) ? v[i] : ret[i];
		return;
	case MSD_REDUCE_MIN:
		for (size_t i = 0; i < n; i++)
			ret[i] = v[i] < ret[i] || isnan(v[i]) ? v[i] : ret[i];
		return;
	case MSD_REDUCE_PROD:
		for (size_t i = 0; i < n; i++)
			ret[i] *= v[i];
		return;
	default:
		for (size_t i = 0; i < n; i++)
			ret[i] += v[i];
	}
}

/* Add each row to one result. */
static void add_along(int64_t type, const struct msd_fold_block *b, size_t n_rows,
		      size_t n, double *ret)
{
	if (type == MSD_REDUCE_MAX) {
		msd_fold_most(b, n_rows, n, ret);
	} else if (type == MSD_REDUCE_MIN) {
		msd_fold_least(b, n_rows, n, ret);
	} else if (type == MSD_REDUCE_PROD) {
		msd_fold_multiply(b, n_rows, n, ret);
	} else {
		msd_fold_add(b, n_rows, n, ret);
	}
}

/* @n_rows rows from that of @w on; their results are neighbours or, for one row, may
 * be one per element. */
static void add_floats(const struct pass *p, const struct msd_walk *w, size_t n_rows)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(p->c, 0);
	const int64_t step = msd_walk_step(w, 1);
	const int64_t type = p->is_most ? MSD_REDUCE_MAX : p->s->type;
	double *ret = (p->is_most ? p->s->most : p->s->floats) + w->at[1];
	const int64_t apart = w->ndim > 1 ? w->steps[0][w->ndim - 2] : 0;
	struct msd_fold_block b;

	for (int64_t k = 0, n; k < w->n; k += n) {
		n = w->n - k < MSD_ROW_BLOCK ? w->n - k : MSD_ROW_BLOCK;
		for (size_t r = 0; r < n_rows; r++) {
			msd_row_load(dtype, p->c->in[0],
				     w->at[0] + (int64_t)r * apart +
					     k * msd_walk_step(w, 0),
				     msd_walk_step(w, 0), (size_t)n, b.v[r]);
			make_terms(p, (size_t)(w->at[1] + k * step) + r, step, b.v[r],
				   (size_t)n);
		}
		if (step != 0) {
			add_across(type, b.v[0], (size_t)n, ret + k * step);
		} else {
			add_along(type, &b, n_rows, (size_t)n, ret);
		}
	}
}

static void add_ints(const struct pass *p, const struct msd_walk *w)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(p->c, 0);
	int64_t *ret = p->s->ints + w->at[1];
	int64_t v[MSD_ROW_BLOCK];

	for (int64_t k = 0, n; k < w->n; k += n) {
		n = w->n - k < MSD_ROW_BLOCK ? w->n - k : MSD_ROW_BLOCK;
		msd_row_load_whole(dtype, p->c->in[0],
				   w->at[0] + k * msd_walk_step(w, 0),
				   msd_walk_step(w, 0), (size_t)n, v);
		for (int64_t i = 0; i < n; i++) {
			int64_t *y = &ret[(k + i) * msd_walk_step(w, 1)];

			*y = add_int(p->s, *y, v[i]);
		}
	}
}

/* Rows from that of @w on which have a result each, one after the other. */
static size_t rows_at_once(const struct msd_walk *w, size_t most)
{
	const size_t axis = w->ndim - 2;

	if (w->ndim < 2 || msd_walk_step(w, 1) != 0 || w->steps[1][axis] != 1)
		return 1;
	const size_t left = (size_t)(w->dims[axis] - w->index[axis]);
	most = most < MSD_FOLD_ROWS ? most : MSD_FOLD_ROWS;
	return left < most ? left : most;
}

static void run_rows(const struct pass *p, size_t first, size_t count)
{
	struct msd_walk w = p->walk;

	msd_walk_seek(&w, first);
	while (count > 0) {
		const size_t n =
			p->s->kind == MSD_N_FLOAT ? rows_at_once(&w, count) : 1;

		if (p->s->kind == MSD_N_FLOAT) {
			add_floats(p, &w, n);
		} else {
			add_ints(p, &w);
		}
		for (size_t i = 0; i < n; i++)
			msd_walk_next(&w);
		count -= n;
	}
}

/* Positions of the first axis, which have results of their own. */
static void run_positions(const void *ctx, size_t first, size_t count)
{
	const struct pass *p = ctx;
	const size_t rows = p->walk.n_rows / (size_t)p->walk.dims[0];

	run_rows(p, first * rows, count * rows);
}

static void run_pass(const struct msd_kernel_call *c, const struct sums *s,
		     const struct msd_walk *w, bool is_most)
{
	const struct pass p = {c, s, *w, is_most};

	if (w->ndim > 1 && w->steps[1][0] != 0) {
		const size_t n = (size_t)w->dims[0];

		msd_ranges_each(n, w->n_rows / n * (size_t)w->n, run_positions, &p);
	} else {
		run_rows(&p, 0, w->n_rows);
	}
}

static void reduce(const struct msd_kernel_call *c, struct sums *s, struct msd_walk *w)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);

	for (size_t i = 0; i < n; i++) {
		if (s->kind == MSD_N_FLOAT) {
			s->floats[i] = begin(s).f;
		} else {
			s->ints[i] = begin(s).i;
		}
		s->most[i] = -INFINITY;
	}
	msd_walk_merge(w);
	if (s->type == MSD_REDUCE_LOG_SUM_EXP && w->n > 0 && w->n_rows > 0)
		run_pass(c, s, w, true);
	if (w->n > 0 && w->n_rows > 0)
		run_pass(c, s, w, false);
	for (size_t i = 0; i < n; i++) {
		if (s->kind != MSD_N_FLOAT) {
			msd_number_store(dtype, c->out[0], (int64_t)i,
					 end_int(s, s->ints[i]));
			continue;
		}
		const double v = end_float(s, i);
		if (v == -INFINITY && msd_number_kind(dtype) != MSD_N_FLOAT) {
			msd_number_store(dtype, c->out[0], (int64_t)i,
					 msd_number_lowest(dtype).i);
		} else {
			msd_row_put(dtype, c->out[0], i, v);
		}
	}
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);
	const size_t n_in = msd_kernel_in_elements(c, 0);
	struct sums s = {
		.type = msd_params_reduction(c->node).type,
		.dtype = msd_kernel_in_dtype(c, 0),
		.kind = msd_number_kind(msd_kernel_in_dtype(c, 0)),
		.floats = calloc(n + 1, sizeof(*s.floats)),
		.most = calloc(n + 1, sizeof(*s.most)),
		.count = n > 0 ? (double)n_in / (double)n : 0,
	};
	struct msd_walk w;
	msd_err err = MSD_OK;

	if (s.type == MSD_REDUCE_LOG_SUM_EXP)
		s.kind = MSD_N_FLOAT;
	s.ints = (int64_t *)s.floats;
	if (s.floats == NULL || s.most == NULL) {
		err = msd_diag_no_memory(d);
	} else if (set_walk(c, &w) != 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "its axes are not known");
	} else {
		reduce(c, &s, &w);
	}
	free(s.floats);
	free(s.most);
	return err;
}

const struct msd_kernel msd_kernel_reduction = {"Reduction", run, MSD_TAKES_NUMBERS};
