/* Reductions over axes, in two passes if the maximum is needed first. */
#include "graph/op/reduce/reduce.h"

#include <math.h>
#include <stdlib.h>

#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

struct sums {
	int64_t type;
	struct msd_dtype dtype;    /* dtype of the elements */
	enum msd_number_kind kind; /* type of the sums: powers of integers are floats */
	union msd_number *at;      /* one per element of the output */
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

static double add_float(const struct sums *s, double sum, double v, size_t i)
{
	switch (s->type) {
	case MSD_REDUCE_L1:
		return sum + fabs(v);
	case MSD_REDUCE_SQUARES:
	case MSD_REDUCE_L2:
		return sum + v * v;
	case MSD_REDUCE_MAX:
		return v > sum || isnan(v) ? v : sum;
	case MSD_REDUCE_MIN:
		return v < sum || isnan(v) ? v : sum;
	case MSD_REDUCE_PROD:
		return sum * v;
	case MSD_REDUCE_LOG_SUM_EXP:
		return isinf(s->most[i]) ? s->most[i] : sum + exp(v - s->most[i]);
	default:
		return sum + v;
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
	const double v = s->at[i].f;

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

static void find_most(const struct msd_kernel_call *c, struct sums *s,
		      struct msd_walk *w)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);

	for (msd_walk_begin(w); w->row < w->n_rows; msd_walk_next(w)) {
		for (int64_t k = 0; k < w->n; k++) {
			double *most = &s->most[w->at[1] + k * msd_walk_step(w, 1)];
			const double v = msd_row_at(
				dtype, c->in[0],
				(size_t)(w->at[0] + k * msd_walk_step(w, 0)));

			*most = v > *most || isnan(v) ? v : *most;
		}
	}
}

static void add_all(const struct msd_kernel_call *c, struct sums *s, struct msd_walk *w)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);

	for (msd_walk_begin(w); w->row < w->n_rows; msd_walk_next(w)) {
		for (int64_t k = 0; k < w->n; k++) {
			const size_t i = (size_t)(w->at[1] + k * msd_walk_step(w, 1));
			const int64_t from = w->at[0] + k * msd_walk_step(w, 0);

			if (s->kind == MSD_N_FLOAT) {
				const double v =
					msd_row_at(dtype, c->in[0], (size_t)from);

				s->at[i].f = add_float(s, s->at[i].f, v, i);
			} else {
				const int64_t v =
					msd_number_load(dtype, c->in[0], from).i;

				s->at[i].i = add_int(s, s->at[i].i, v);
			}
		}
	}
}

static void reduce(const struct msd_kernel_call *c, struct sums *s, struct msd_walk *w)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);

	for (size_t i = 0; i < n; i++) {
		s->at[i] = begin(s);
		s->most[i] = -INFINITY;
	}
	if (s->type == MSD_REDUCE_LOG_SUM_EXP && w->n > 0)
		find_most(c, s, w);
	if (w->n > 0)
		add_all(c, s, w);
	for (size_t i = 0; i < n; i++) {
		if (s->kind != MSD_N_FLOAT) {
			msd_number_store(dtype, c->out[0], (int64_t)i,
					 end_int(s, s->at[i].i));
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
		.type = msd_kernel_int(c, "type"),
		.dtype = msd_kernel_in_dtype(c, 0),
		.kind = msd_number_kind(msd_kernel_in_dtype(c, 0)),
		.at = calloc(n + 1, sizeof(*s.at)),
		.most = calloc(n + 1, sizeof(*s.most)),
		.count = n > 0 ? (double)n_in / (double)n : 0,
	};
	struct msd_walk w;
	msd_err err = MSD_OK;

	if (s.type == MSD_REDUCE_LOG_SUM_EXP)
		s.kind = MSD_N_FLOAT;
	if (s.at == NULL || s.most == NULL) {
		err = msd_diag_no_memory(d);
	} else if (set_walk(c, &w) != 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "its axes are not known");
	} else {
		reduce(c, &s, &w);
	}
	free(s.at);
	free(s.most);
	return err;
}

const struct msd_kernel msd_kernel_reduction = {"Reduction", run, MSD_TAKES_NUMBERS};
