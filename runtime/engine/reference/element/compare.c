/* Comparison, Logical, Where, Clip, IsInf and IsNaN. */
#include <math.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

static int order(enum msd_number_kind kind, int64_t a, int64_t b)
{
	if (kind == MSD_N_UINT64)
		return (uint64_t)a < (uint64_t)b ? -1 : (uint64_t)a > (uint64_t)b;
	return a < b ? -1 : a > b;
}

/* Comparisons are numbered as in tmfiles. NaN is only unequal. */
static void compare_floats(int64_t type, const double *a, const double *b, size_t n,
			   uint8_t *y)
{
	for (size_t i = 0; type == 0 && i < n; i++)
		y[i] = a[i] == b[i];
	for (size_t i = 0; type == 1 && i < n; i++)
		y[i] = a[i] != b[i];
	for (size_t i = 0; type == 2 && i < n; i++)
		y[i] = a[i] > b[i];
	for (size_t i = 0; type == 3 && i < n; i++)
		y[i] = a[i] >= b[i];
	for (size_t i = 0; type == 4 && i < n; i++)
		y[i] = a[i] < b[i];
	for (size_t i = 0; type > 4 && i < n; i++)
		y[i] = a[i] <= b[i];
}

static bool compare(int64_t type, int sign)
{
	switch (type) {
	case 0:
		return sign == 0;
	case 1:
		return sign != 0;
	case 2:
		return sign > 0;
	case 3:
		return sign >= 0;
	case 4:
		return sign < 0;
	default:
		return sign <= 0;
	}
}

static bool combine(int64_t type, bool a, bool b)
{
	return type == 0 ? a && b : type == 1 ? a || b : a != b;
}

/* Two inputs of one type, and how their elements are paired. */
struct two {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	enum msd_number_kind kind;
	int64_t type; /* type of the comparison or the logical operator */
	bool is_logical;
	struct msd_walk walk;
};

/* A block of results from elements @at of both inputs. */
static void run_block(const struct two *t, const int64_t *at, size_t n, uint8_t *y)
{
	double a[2][MSD_ROW_BLOCK];
	int64_t v[2][MSD_ROW_BLOCK];

	for (size_t i = 0; i < 2; i++) {
		const int64_t step = msd_walk_step(&t->walk, i);

		if (t->kind == MSD_N_FLOAT) {
			msd_row_load(t->dtype, t->c->in[i], at[i], step, n, a[i]);
		} else {
			msd_row_load_whole(t->dtype, t->c->in[i], at[i], step, n, v[i]);
		}
	}
	if (t->kind == MSD_N_FLOAT) {
		compare_floats(t->type, a[0], a[1], n, y);
		return;
	}
	for (size_t k = 0; t->is_logical && k < n; k++)
		y[k] = combine(t->type, v[0][k] != 0, v[1][k] != 0);
	for (size_t k = 0; !t->is_logical && k < n; k++)
		y[k] = compare(t->type, order(t->kind, v[0][k], v[1][k]));
}

static msd_err run_two(const struct msd_kernel_call *c, bool is_logical, int64_t type)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	struct two t = {c, dtype, msd_number_kind(dtype), type, is_logical, {0}};
	struct msd_walk *w = &t.walk;
	uint8_t *y = c->out[0];

	msd_walk_init(w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	for (size_t i = 0; i < 2; i++) {
		msd_walk_stretch(w, msd_kernel_in_dims(c, i), msd_kernel_in_ndim(c, i));
	}
	msd_walk_merge(w);
	for (msd_walk_begin(w); w->n > 0 && w->row < w->n_rows; msd_walk_next(w)) {
		for (int64_t k = 0; k < w->n; k += MSD_ROW_BLOCK) {
			const int64_t left = w->n - k;
			const int64_t n = left < MSD_ROW_BLOCK ? left : MSD_ROW_BLOCK;
			const int64_t at[] = {w->at[0] + k * msd_walk_step(w, 0),
					      w->at[1] + k * msd_walk_step(w, 1)};

			run_block(&t, at, (size_t)n, y);
			y += n;
		}
	}
	return MSD_OK;
}

static msd_err run_comparison(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_two(c, false, msd_params_comparison(c->node).type);
}

static msd_err run_logical(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_two(c, true, msd_params_logical(c->node).type);
}

/* A row of a Where: addresses of its first elements, and steps in elements. */
struct choice {
	const uint8_t *is, *yes, *no;
	int64_t is_step, yes_step, no_step;
	int64_t n;
};

/* @size is a constant where this is inlined. */
static inline __attribute__((always_inline)) void
choose_row(const struct choice *c, const size_t size, uint8_t *y)
{
	const int64_t yes_step = c->yes_step * (int64_t)size;
	const int64_t no_step = c->no_step * (int64_t)size;

	for (int64_t k = 0; k < c->n; k++, y += size) {
		const uint8_t *yes = c->yes + k * yes_step;
		const uint8_t *no = c->no + k * no_step;

		memcpy(y, c->is[k * c->is_step] != 0 ? yes : no, size);
	}
}

static void choose(const struct choice *c, size_t size, uint8_t *y)
{
	if (size == 4) {
		choose_row(c, 4, y);
	} else if (size == 8) {
		choose_row(c, 8, y);
	} else if (size == 1) {
		choose_row(c, 1, y);
	} else {
		choose_row(c, size, y);
	}
}

static msd_err run_where(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t size = msd_kernel_out_dtype(c, 0).bits / 8u;
	const uint8_t *yes = c->in[1];
	const uint8_t *no = c->in[2];
	uint8_t *y = c->out[0];
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	for (size_t i = 0; i < 3; i++) {
		msd_walk_stretch(&w, msd_kernel_in_dims(c, i),
				 msd_kernel_in_ndim(c, i));
	}
	msd_walk_merge(&w);
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		const struct choice row = {(const uint8_t *)c->in[0] + w.at[0],
					   yes + w.at[1] * (int64_t)size,
					   no + w.at[2] * (int64_t)size,
					   msd_walk_step(&w, 0),
					   msd_walk_step(&w, 1),
					   msd_walk_step(&w, 2),
					   w.n};

		choose(&row, size, y);
		y += (size_t)w.n * size;
	}
	return MSD_OK;
}

/* A limit: an input, a float parameter, or none. */
static union msd_number limit(const struct msd_kernel_call *c, size_t i, float own,
			      int64_t otherwise)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);

	if (msd_kernel_has(c, i))
		return msd_number_load(dtype, c->in[i], 0);
	if (msd_number_kind(dtype) == MSD_N_FLOAT)
		return (union msd_number){.f = (double)own};
	return (union msd_number){.i = otherwise};
}

struct clip {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	union msd_number low;
	union msd_number high;
};

static void clip_floats(const void *ctx, size_t first, size_t count)
{
	const struct clip *p = ctx;
	double v[MSD_ROW_BLOCK];

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_ROW_BLOCK ? count : MSD_ROW_BLOCK;
		msd_row_load(p->dtype, p->c->in[0], (int64_t)first, 1, n, v);
		for (size_t i = 0; i < n; i++) { /* keeps NaN */
			const double least = v[i] < p->low.f ? p->low.f : v[i];

			v[i] = least > p->high.f ? p->high.f : least;
		}
		msd_row_store(p->dtype, p->c->out[0], first, n, v);
	}
}

static void clip_ints(const void *ctx, size_t first, size_t count)
{
	const struct clip *p = ctx;
	const enum msd_number_kind kind = msd_number_kind(p->dtype);

	for (size_t i = first; i < first + count; i++) {
		const int64_t v = msd_number_load(p->dtype, p->c->in[0], (int64_t)i).i;
		const int64_t least = order(kind, v, p->low.i) == -1 ? p->low.i : v;

		msd_number_store(p->dtype, p->c->out[0], (int64_t)i,
				 order(kind, least, p->high.i) == 1 ? p->high.i
								    : least);
	}
}

static msd_err run_clip(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const enum msd_number_kind kind = msd_number_kind(dtype);
	const bool is_u64 = kind == MSD_N_UINT64;
	const struct msd_params_clip own = msd_params_clip(c->node);
	const struct clip p = {c, dtype, limit(c, 1, own.min, is_u64 ? 0 : INT64_MIN),
			       limit(c, 2, own.max, is_u64 ? -1 : INT64_MAX)};

	(void)d;
	msd_ranges_each(msd_kernel_out_elements(c, 0), 1,
			kind == MSD_N_FLOAT ? clip_floats : clip_ints, &p);
	return MSD_OK;
}

static msd_err run_is_nan(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	bool *y = c->out[0];

	(void)d;
	for (size_t i = 0; i < n; i++)
		y[i] = isnan(msd_row_at(dtype, c->in[0], i));
	return MSD_OK;
}

static msd_err run_is_inf(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_is_inf p = msd_params_is_inf(c->node);
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const bool has_negative = p.detect_negative != 0;
	const bool has_positive = p.detect_positive != 0;
	const size_t n = msd_kernel_out_elements(c, 0);
	bool *y = c->out[0];

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const double v = msd_row_at(dtype, c->in[0], i);

		y[i] = isinf(v) && (v < 0 ? has_negative : has_positive);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_comparison = {"Comparison", run_comparison,
						 MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_logical = {"Logical", run_logical,
					      MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_where = {"Where", run_where, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_clip = {"Clip", run_clip, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_is_inf = {"IsInf", run_is_inf, MSD_TAKES_FLOATS};
const struct msd_kernel msd_kernel_is_nan = {"IsNaN", run_is_nan, MSD_TAKES_FLOATS};
