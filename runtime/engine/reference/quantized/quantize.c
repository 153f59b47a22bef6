/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. */
#include "runtime/engine/reference/quantized/quantize.h"

#include <math.h>
#include <string.h>

#include "graph/op/quantized/params.h"
#include "proto/small.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

double msd_quantized(struct msd_dtype dtype, double v)
{
	const bool is_signed = dtype.code == MSD_DT_INT;
	const double top = ldexp(1, dtype.bits - (is_signed ? 1 : 0));
	const double least = is_signed ? -top : 0;

	if (isnan(v))
		return 0;
	return v < least ? least : v > top - 1 ? top - 1 : v;
}

double msd_quantized_part(const struct msd_kernel_call *c, size_t input, size_t i,
			  double otherwise)
{
	if (!msd_kernel_has(c, input))
		return otherwise;
	return msd_kernel_get(c, input, msd_kernel_in_elements(c, input) == 1 ? 0 : i);
}

/* Mapping from element @i to its scale and zero point. */
struct places {
	size_t n; /* extent of the axis, and elements after it */
	size_t inner;
	size_t block; /* elements of the axis that share a scale; 0: one scale for all
		       */
	bool is_blocked;
};

static struct places places_of(const struct msd_kernel_call *c)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t block = (size_t)msd_params_blocks(c->node).block_size;
	struct places p = {.n = 1, .inner = 1};

	if (msd_kernel_in_elements(c, 1) == 1)
		return p;
	const size_t axis = msd_kernel_axis(msd_params_blocks(c->node).axis, ndim);
	p.n = (size_t)msd_kernel_in_dims(c, 0)[axis];
	p.inner = msd_kernel_inner(msd_kernel_in_dims(c, 0), ndim, axis);
	p.block = block > 0 ? block : 1;
	p.is_blocked = msd_kernel_in_ndim(c, 1) > 1;
	return p;
}

/* Elements from @i on with one scale, of at most @left. */
static size_t run_of(const struct places *p, size_t i, size_t left)
{
	size_t n = left;

	if (p->is_blocked) {
		n = 1;
	} else if (p->block > 0) {
		n = p->inner - i % p->inner;
	}
	n = n < left ? n : left;
	return n < MSD_ROW_BLOCK ? n : MSD_ROW_BLOCK;
}

static size_t place_of(const struct places *p, size_t i)
{
	if (p->block == 0)
		return 0;
	const size_t at = i / p->inner % p->n / p->block;
	if (!p->is_blocked)
		return at;
	const size_t blocks = (p->n + p->block - 1) / p->block;
	return (i / p->inner / p->n * blocks + at) * p->inner + i % p->inner;
}

/* An input, possibly with small elements; 0 if it is missing. */
struct part {
	const void *p;
	struct msd_dtype dtype;
	bool is_small;
};

static struct part part_of(const struct msd_kernel_call *c, size_t i)
{
	if (!msd_kernel_has(c, i))
		return (struct part){0};
	const struct msd_dtype dtype = msd_kernel_in_dtype(c, i);
	return (struct part){c->in[i], dtype, msd_small_is(dtype)};
}

static double get(const struct part *x, size_t k)
{
	if (x->p == NULL)
		return 0;
	return x->is_small ? msd_small_load(x->dtype, x->p, k)
			   : msd_row_at(x->dtype, x->p, k);
}

/* Float results are not rounded before they are stored. */
static void put_quantized(const struct msd_kernel_call *c, size_t k, double v,
			  double zero)
{
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);

	if (to.code != MSD_DT_INT && to.code != MSD_DT_UINT) {
		msd_small_store(to, c->out[0], k, v + zero,
				msd_params_quantize_linear(c->node).saturate != 0);
	} else if (to.bits < 8) {
		msd_small_store(to, c->out[0], k, rint(v) + zero, true);
	} else {
		msd_kernel_put(c, 0, k, msd_quantized(to, rint(v) + zero));
	}
}

/* Integers of 8 or 16 bits: the limits of the type. */
struct limits {
	double least;
	double most;
};

static bool is_short(struct msd_dtype to)
{
	return (to.code == MSD_DT_INT || to.code == MSD_DT_UINT) &&
	       (to.bits == 8 || to.bits == 16);
}

static struct limits limits_of(struct msd_dtype to)
{
	return (struct limits){msd_quantized(to, -INFINITY),
			       msd_quantized(to, INFINITY)};
}

/*
 * rint() of each element, plus @zero, within the limits; NaN becomes 0. Adding and
 * subtracting 1.5 * 2^52 rounds as rint() does; larger elements are limited first.
 */
static void quantize_block(double *v, size_t n, double zero, struct limits limits)
{
	const double shift = 0x1.8p52;
	const double far = 0x1p40;

	for (size_t i = 0; i < n; i++) {
		const double near = v[i] > far ? far : v[i] < -far ? -far : v[i];
		const double whole = near + shift - shift + zero;
		const double low = whole < limits.least ? limits.least : whole;
		const double high = low > limits.most ? limits.most : low;

		v[i] = high == high ? high : 0;
	}
}

static void store_short(struct msd_dtype to, void *p, size_t first, size_t n,
			const double *v)
{
	if (to.bits == 8) {
		uint8_t *y = (uint8_t *)p + first;

		for (size_t i = 0; i < n; i++)
			y[i] = (uint8_t)(int32_t)v[i];
	} else {
		uint16_t *y = (uint16_t *)p + first;

		for (size_t i = 0; i < n; i++)
			y[i] = (uint16_t)(int32_t)v[i];
	}
}

/* Inputs 1 and 4 are the operands' scales, 6 and 7 scale and zero point of the output.
 * The columns' scale is one number, or one for each of @step 1. */
void msd_requantize(const struct msd_kernel_call *c, size_t a, size_t b, size_t step,
		    size_t n, double *sums)
{
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);
	const float row = (float)msd_quantized_part(c, 1, a, 1);
	const float out = (float)msd_quantized_part(c, 6, 0, 1);
	const double zero = msd_quantized_part(c, 7, 0, 0);
	const bool is_each =
		step > 0 && msd_kernel_has(c, 4) && msd_kernel_in_elements(c, 4) > 1;
	const float column = (float)msd_quantized_part(c, 4, b, 1);
	double scales[MSD_ROW_BLOCK];

	for (size_t at = 0, count; at < n; at += count) {
		count = n - at < MSD_ROW_BLOCK ? n - at : MSD_ROW_BLOCK;
		if (is_each) {
			msd_row_load(msd_kernel_in_dtype(c, 4), c->in[4],
				     (int64_t)(b + at), 1, count, scales);
		}
		for (size_t i = 0; i < count; i++) {
			const float scale =
				row * (is_each ? (float)scales[i] : column) / out;

			sums[at + i] = (double)((float)sums[at + i] * scale);
		}
		quantize_block(sums + at, count, zero, limits_of(to));
	}
}

struct quantization {
	const struct msd_kernel_call *c;
	struct part x;
	struct part scale;
	struct part zero;
	struct places places;
	struct limits limits; /* if the output is short */
	bool is_short;
};

/* The definition computes the quotient in float32, so ties are those of float32. */
static void quantize(const void *ctx, size_t first, size_t count)
{
	const struct quantization *q = ctx;
	const struct msd_dtype to = msd_kernel_out_dtype(q->c, 0);
	double v[MSD_ROW_BLOCK];

	for (size_t n; count > 0; first += n, count -= n) {
		n = run_of(&q->places, first, count);
		const size_t at = place_of(&q->places, first);
		const float scale = (float)get(&q->scale, at);
		const double zero = get(&q->zero, at);

		msd_row_load(q->x.dtype, q->x.p, (int64_t)first, 1, n, v);
		for (size_t i = 0; i < n; i++)
			v[i] = (double)((float)v[i] / scale);
		if (q->is_short) {
			quantize_block(v, n, zero, q->limits);
			store_short(to, q->c->out[0], first, n, v);
			continue;
		}
		for (size_t i = 0; i < n; i++)
			put_quantized(q->c, first + i, v[i], zero);
	}
}

static void dequantize(const void *ctx, size_t first, size_t count)
{
	const struct quantization *q = ctx;
	const struct msd_dtype to = msd_kernel_out_dtype(q->c, 0);
	double v[MSD_ROW_BLOCK];

	for (size_t n; count > 0; first += n, count -= n) {
		n = run_of(&q->places, first, count);
		const size_t at = place_of(&q->places, first);
		const double scale = get(&q->scale, at);
		const double zero = get(&q->zero, at);

		if (q->x.is_small) {
			for (size_t i = 0; i < n; i++)
				v[i] = get(&q->x, first + i);
		} else {
			msd_row_load(q->x.dtype, q->x.p, (int64_t)first, 1, n, v);
		}
		for (size_t i = 0; i < n; i++)
			v[i] = (v[i] - zero) * scale;
		msd_row_store(to, q->c->out[0], first, n, v);
	}
}

enum { COST_NS = 2 };

static msd_err run_quantize(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	struct quantization q = {.c = c,
				 .x = part_of(c, 0),
				 .scale = part_of(c, 1),
				 .zero = part_of(c, 2),
				 .places = places_of(c),
				 .is_short = is_short(to)};

	(void)d;
	if (q.is_short)
		q.limits = limits_of(to);
	if (to.bits < 8) { /* elements share bytes, so one thread stores them */
		memset(c->out[0], 0, (n * to.bits + 7) / 8);
		quantize(&q, 0, n);
	} else {
		msd_ranges_each(n, COST_NS, quantize, &q);
	}
	return MSD_OK;
}

static msd_err run_dequantize(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct quantization q = {.c = c,
				       .x = part_of(c, 0),
				       .scale = part_of(c, 1),
				       .zero = part_of(c, 2),
				       .places = places_of(c)};

	(void)d;
	msd_ranges_each(msd_kernel_out_elements(c, 0), COST_NS, dequantize, &q);
	return MSD_OK;
}

/* The range includes 0, so that 0 is represented exactly. */
static msd_err run_dynamic(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	double v[MSD_ROW_BLOCK];
	float least = 0;
	float most = 0;

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const float x = msd_kernel_in(c, 0)[i];

		least = x < least ? x : least;
		most = x > most ? x : most;
	}
	const float scale = most > least ? (most - least) / 255 : 1;
	const double zero = msd_quantized(to, rint((double)(-least / scale)));
	for (size_t at = 0, count; at < n; at += count) {
		count = n - at < MSD_ROW_BLOCK ? n - at : MSD_ROW_BLOCK;
		for (size_t i = 0; i < count; i++)
			v[i] = (double)(msd_kernel_in(c, 0)[at + i] / scale);
		quantize_block(v, count, zero, limits_of(to));
		store_short(to, c->out[0], at, count, v);
	}
	if (c->out[1] != NULL)
		msd_kernel_put(c, 1, 0, (double)scale);
	if (c->out[2] != NULL)
		msd_kernel_put(c, 2, 0, zero);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_quantize_linear = {"QuantizeLinear", run_quantize,
						      MSD_TAKES_SMALL};
const struct msd_kernel msd_kernel_dequantize_linear = {
	"DequantizeLinear", run_dequantize, MSD_TAKES_SMALL};
const struct msd_kernel msd_kernel_dynamic_quantize_linear = {
	"DynamicQuantizeLinear", run_dynamic, MSD_TAKES_FLOAT32};
