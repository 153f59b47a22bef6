/* Comparison, Logical, Where, Clip, IsInf and IsNaN. */
#include <math.h>
#include <string.h>

#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/kernel/walk.h"

/* -1, 0, 1: less, equal, greater; 2: unordered, because one operand is NaN. */
static int order_floats(double a, double b)
{
	if (isnan(a) || isnan(b))
		return 2;
	return a < b ? -1 : a > b;
}

static int order(enum msd_number_kind kind, int64_t a, int64_t b)
{
	if (kind == MSD_N_UINT64)
		return (uint64_t)a < (uint64_t)b ? -1 : (uint64_t)a > (uint64_t)b;
	return a < b ? -1 : a > b;
}

/* Numbered as in tmfiles. */
static bool compare(int64_t type, int sign)
{
	switch (type) {
	case 0:
		return sign == 0;
	case 1:
		return sign != 0;
	case 2:
		return sign == 1;
	case 3:
		return sign == 0 || sign == 1;
	case 4:
		return sign == -1;
	default:
		return sign == 0 || sign == -1;
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
};

static int64_t whole(const struct two *t, size_t i, int64_t k)
{
	return msd_number_load(t->dtype, t->c->in[i], k).i;
}

static int order_of(const struct two *t, int64_t a, int64_t b)
{
	if (t->kind != MSD_N_FLOAT)
		return order(t->kind, whole(t, 0, a), whole(t, 1, b));
	return order_floats(msd_row_at(t->dtype, t->c->in[0], (size_t)a),
			    msd_row_at(t->dtype, t->c->in[1], (size_t)b));
}

static bool pair(const struct two *t, int64_t a, int64_t b)
{
	return t->is_logical
		       ? combine(t->type, whole(t, 0, a) != 0, whole(t, 1, b) != 0)
		       : compare(t->type, order_of(t, a, b));
}

static msd_err run_two(const struct msd_kernel_call *c, bool is_logical)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const struct two t = {c, dtype, msd_number_kind(dtype),
			      msd_kernel_int(c, "type"), is_logical};
	uint8_t *y = c->out[0];
	struct msd_walk w;

	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	for (size_t i = 0; i < 2; i++) {
		msd_walk_stretch(&w, msd_kernel_in_dims(c, i),
				 msd_kernel_in_ndim(c, i));
	}
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t k = 0; k < w.n; k++) {
			*y++ = pair(&t, w.at[0] + k * msd_walk_step(&w, 0),
				    w.at[1] + k * msd_walk_step(&w, 1));
		}
	}
	return MSD_OK;
}

static msd_err run_comparison(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_two(c, false);
}

static msd_err run_logical(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	return run_two(c, true);
}

static msd_err run_where(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t size = msd_kernel_out_dtype(c, 0).bits / 8u;
	uint8_t *y = c->out[0];
	struct msd_walk w;

	(void)d;
	msd_walk_init(&w, msd_kernel_out_dims(c, 0), msd_kernel_out_ndim(c, 0));
	for (size_t i = 0; i < 3; i++) {
		msd_walk_stretch(&w, msd_kernel_in_dims(c, i),
				 msd_kernel_in_ndim(c, i));
	}
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t k = 0; k < w.n; k++, y += size) {
			const uint8_t *is = c->in[0];
			const bool holds = is[w.at[0] + k * msd_walk_step(&w, 0)] != 0;
			const size_t i = holds ? 1 : 2;
			const uint8_t *x = c->in[i];
			const int64_t at = w.at[i] + k * msd_walk_step(&w, i);

			memcpy(y, x + at * (int64_t)size, size);
		}
	}
	return MSD_OK;
}

/* A limit: an input, a float parameter, or none. */
static union msd_number limit(const struct msd_kernel_call *c, size_t i,
			      const char *param, int64_t otherwise)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);

	if (msd_kernel_has(c, i))
		return msd_number_load(dtype, c->in[i], 0);
	if (msd_number_kind(dtype) == MSD_N_FLOAT)
		return (union msd_number){.f = (double)msd_kernel_float(c, param)};
	return (union msd_number){.i = otherwise};
}

static msd_err run_clip(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const enum msd_number_kind kind = msd_number_kind(dtype);
	const bool is_u64 = kind == MSD_N_UINT64;
	const union msd_number low = limit(c, 1, "min", is_u64 ? 0 : INT64_MIN);
	const union msd_number high = limit(c, 2, "max", is_u64 ? -1 : INT64_MAX);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; kind == MSD_N_FLOAT && i < n; i++) {
		const double v = msd_row_at(dtype, c->in[0], i);
		const double least = v < low.f ? low.f : v; /* keeps NaN */

		msd_row_put(dtype, c->out[0], i, least > high.f ? high.f : least);
	}
	for (size_t i = 0; kind != MSD_N_FLOAT && i < n; i++) {
		const int64_t v = msd_number_load(dtype, c->in[0], (int64_t)i).i;
		const int64_t least = order(kind, v, low.i) == -1 ? low.i : v;

		msd_number_store(dtype, c->out[0], (int64_t)i,
				 order(kind, least, high.i) == 1 ? high.i : least);
	}
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
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, 0);
	const bool has_negative = msd_kernel_int(c, "detect_negative") != 0;
	const bool has_positive = msd_kernel_int(c, "detect_positive") != 0;
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
