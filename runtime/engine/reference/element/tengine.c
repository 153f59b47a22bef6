/* Element-wise operators that Tengine alone has: Unary, Logistic, ReLU1, Threshold,
 * Bias, Scale, ZerosLike. */
#include <math.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "runtime/kernel/kernels.h"

enum unary { /* numbered as in tmfiles */
	     ABS,
	     NEG,
	     FLOOR,
	     CEIL,
	     SQUARE,
	     SQRT,
	     RSQRT,
	     EXP,
	     LOG,
	     SIN,
	     COS,
	     TAN,
	     ASIN,
	     ACOS,
	     ATAN,
	     RECIPROCAL,
	     TANH
};

static double compute(int64_t type, double x)
{
	switch (type) {
	case ABS:
		return fabs(x);
	case NEG:
		return -x;
	case FLOOR:
		return floor(x);
	case CEIL:
		return ceil(x);
	case SQUARE:
		return x * x;
	case SQRT:
		return sqrt(x);
	case RSQRT:
		return 1 / sqrt(x);
	case EXP:
		return exp(x);
	case LOG:
		return log(x);
	case SIN:
		return sin(x);
	case COS:
		return cos(x);
	case TAN:
		return tan(x);
	case ASIN:
		return asin(x);
	case ACOS:
		return acos(x);
	case ATAN:
		return atan(x);
	case RECIPROCAL:
		return 1 / x;
	default:
		return tanh(x);
	}
}

static msd_err run_unary(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t type = msd_params_unary(c->node).type;
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++)
		msd_kernel_put(c, 0, i, compute(type, msd_kernel_get(c, 0, i)));
	return MSD_OK;
}

static msd_err run_logistic(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++)
		msd_kernel_put(c, 0, i, 1 / (1 + exp(-msd_kernel_get(c, 0, i))));
	return MSD_OK;
}

/* Between -1 and 1. */
static msd_err run_relu1(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const double x = msd_kernel_get(c, 0, i);

		msd_kernel_put(c, 0, i, x < -1 ? -1 : x > 1 ? 1 : x);
	}
	return MSD_OK;
}

/* 1 above the threshold, else 0. */
static msd_err run_threshold(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const double threshold = (double)msd_params_threshold(c->node).threshold;
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++)
		msd_kernel_put(c, 0, i, msd_kernel_get(c, 0, i) > threshold ? 1 : 0);
	return MSD_OK;
}

/* A number for each channel is added. */
static msd_err run_bias(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	for (size_t i = 0; i < n; i++) {
		const size_t channel = i / plane % (size_t)dims[1];

		msd_kernel_put(c, 0, i,
			       msd_kernel_get(c, 0, i) + msd_kernel_get(c, 1, channel));
	}
	return MSD_OK;
}

/* Factors, and what is added, for each place of some axes. */
static msd_err run_scale(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_scale(c->node).axis, ndim);
	const size_t factors = msd_kernel_in_elements(c, 1);
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	if (n == 0)
		return MSD_OK;
	const size_t inner =
		n / msd_kernel_outer(msd_kernel_in_dims(c, 0), axis) / factors;
	for (size_t i = 0; i < n; i++) {
		const size_t k = i / inner % factors;
		const double more = msd_kernel_has(c, 2) ? msd_kernel_get(c, 2, k) : 0;

		msd_kernel_put(c, 0, i,
			       msd_kernel_get(c, 0, i) * msd_kernel_get(c, 1, k) +
				       more);
	}
	return MSD_OK;
}

static msd_err run_zeros(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	if (msd_kernel_out_elements(c, 0) > 0) {
		memset(c->out[0], 0,
		       msd_kernel_out_elements(c, 0) * msd_kernel_size(c));
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_unary = {"Unary", run_unary, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_logistic = {"Logistic", run_logistic,
					       MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_relu1 = {"ReLU1", run_relu1, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_threshold = {"Threshold", run_threshold,
						MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_bias = {"Bias", run_bias, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_scale = {"Scale", run_scale, MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_zeros_like = {"ZerosLike", run_zeros,
						 MSD_TAKES_BYTES};
