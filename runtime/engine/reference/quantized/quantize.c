/* QuantizeLinear, DequantizeLinear and DynamicQuantizeLinear. */
#include "runtime/engine/reference/quantized/quantize.h"

#include <math.h>
#include <string.h>

#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"
#include "runtime/value/small.h"

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

/* Inputs 1 and 4 are the operands' scales, 6 and 7 scale and zero point of the output.
 */
double msd_requantized(const struct msd_kernel_call *c, double sum, size_t a, size_t b)
{
	const float scale = (float)msd_quantized_part(c, 1, a, 1) *
			    (float)msd_quantized_part(c, 4, b, 1) /
			    (float)msd_quantized_part(c, 6, 0, 1);
	const float scaled = (float)sum * scale;

	return msd_quantized(msd_kernel_out_dtype(c, 0),
			     rint((double)scaled) + msd_quantized_part(c, 7, 0, 0));
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
	const size_t block = (size_t)msd_kernel_int(c, "block_size");
	struct places p = {.n = 1, .inner = 1};

	if (msd_kernel_in_elements(c, 1) == 1)
		return p;
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	p.n = (size_t)msd_kernel_in_dims(c, 0)[axis];
	p.inner = msd_kernel_inner(msd_kernel_in_dims(c, 0), ndim, axis);
	p.block = block > 0 ? block : 1;
	p.is_blocked = msd_kernel_in_ndim(c, 1) > 1;
	return p;
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
				msd_kernel_int(c, "saturate") != 0);
	} else if (to.bits < 8) {
		msd_small_store(to, c->out[0], k, rint(v) + zero, true);
	} else {
		msd_kernel_put(c, 0, k, msd_quantized(to, rint(v) + zero));
	}
}

/* The definition computes the quotient in float32, so ties are those of float32. */
static msd_err run_quantize(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct part zero = part_of(c, 2);
	const struct places p = places_of(c);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	if (msd_kernel_out_dtype(c, 0).bits <
	    8) /* the last byte may hold only one element */
		memset(c->out[0], 0, (n + 1) / 2);
	for (size_t i = 0; i < n; i++) {
		const size_t at = place_of(&p, i);
		const float scale = (float)msd_kernel_get(c, 1, at);
		const float v = (float)msd_kernel_get(c, 0, i) / scale;

		put_quantized(c, i, (double)v, get(&zero, at));
	}
	return MSD_OK;
}

static msd_err run_dequantize(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct part x = part_of(c, 0);
	const struct part zero = part_of(c, 2);
	const struct places p = places_of(c);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const size_t at = place_of(&p, i);

		msd_kernel_put(c, 0, i,
			       (get(&x, i) - get(&zero, at)) *
				       msd_kernel_get(c, 1, at));
	}
	return MSD_OK;
}

/* The range includes 0, so that 0 is represented exactly. */
static msd_err run_dynamic(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype to = msd_kernel_out_dtype(c, 0);
	const size_t n = msd_kernel_out_elements(c, 0);
	float least = 0;
	float most = 0;

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const float v = msd_kernel_in(c, 0)[i];

		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	const float scale = most > least ? (most - least) / 255 : 1;
	const double zero = msd_quantized(to, rint((double)(-least / scale)));
	for (size_t i = 0; i < n; i++) {
		const float v = msd_kernel_in(c, 0)[i] / scale;

		msd_kernel_put(c, 0, i, msd_quantized(to, rint((double)v) + zero));
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
