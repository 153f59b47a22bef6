#include "runtime/engine/reference/ml/ml_score.h"

#include <math.h>

static void softmax(double *scores, size_t n, bool keeps_zeros)
{
	const double largest = scores[msd_ml_largest(scores, n)];
	double sum = 0;

	for (size_t i = 0; i < n; i++) {
		const bool is_zero = keeps_zeros && fabs(scores[i]) <= 1e-7;

		scores[i] =
			is_zero ? scores[i] * exp(-largest) : exp(scores[i] - largest);
		sum += scores[i];
	}
	for (size_t i = 0; i < n; i++)
		scores[i] = sum > 0 ? scores[i] / sum : scores[i];
}

void msd_ml_transform(enum msd_ml_transform how, double *scores, size_t n)
{
	switch (how) {
	case MSD_ML_LOGISTIC:
		for (size_t i = 0; i < n; i++)
			scores[i] = 1 / (1 + exp(-scores[i]));
		return;
	case MSD_ML_SOFTMAX:
	case MSD_ML_SOFTMAX_ZERO:
		softmax(scores, n, how == MSD_ML_SOFTMAX_ZERO);
		return;
	case MSD_ML_NONE:
	case MSD_ML_TRANSFORM_COUNT:
		return;
	}
}

void msd_ml_put(const struct msd_kernel_call *c, size_t k, size_t row,
		const double *scores, size_t n)
{
	for (size_t i = 0; c->out[k] != NULL && i < n; i++)
		msd_kernel_put(c, k, row * n + i, scores[i]);
}

void msd_ml_put_label(const struct msd_kernel_call *c, size_t row, int64_t label)
{
	if (c->out[0] != NULL)
		((int64_t *)c->out[0])[row] = label;
}

size_t msd_ml_largest(const double *scores, size_t n)
{
	size_t at = 0;

	for (size_t i = 1; i < n; i++)
		at = scores[i] > scores[at] ? i : at;
	return at;
}
