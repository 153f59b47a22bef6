/* Linear models of ai.onnx.ml. */
#include <stdlib.h>

#include "runtime/engine/reference/ml/ml_score.h"
#include "runtime/kernel/kernels.h"

/* The @n sums of row @row. */
static void sums_of(const struct msd_kernel_call *c, size_t row, double *ret, size_t n)
{
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[1];
	size_t n_intercepts, n_coefficients;
	const float *intercepts = msd_ml_floats(c, "intercepts", &n_intercepts);
	const float *w = msd_ml_floats(c, "coefficients", &n_coefficients);

	for (size_t k = 0; k < n; k++) {
		ret[k] = n_intercepts > 0 ? (double)intercepts[k] : 0;
		for (size_t i = 0; i < features; i++) {
			ret[k] += (double)w[k * features + i] *
				  msd_kernel_get(c, 0, row * features + i);
		}
	}
}

static msd_err run_regressor(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = (size_t)msd_kernel_out_dims(c, 0)[1];
	double *sums = calloc(n + 1, sizeof(*sums));

	if (sums == NULL)
		return msd_diag_no_memory(d);
	for (size_t row = 0; row < (size_t)msd_kernel_in_dims(c, 0)[0]; row++) {
		sums_of(c, row, sums, n);
		msd_ml_transform(msd_ml_transform_of(c->node), sums, n);
		msd_ml_put(c, 0, row, sums, n);
	}
	free(sums);
	return MSD_OK;
}

/* With two classes, one sum belongs to the second class, and its sign decides. */
static void put_row(const struct msd_kernel_call *c, size_t row, double *sums,
		    size_t n_sums, size_t n)
{
	if (n_sums < n) {
		msd_ml_put_label(c, row, sums[0] > 0 ? 1 : 0);
		sums[1] = sums[0];
		sums[0] = -sums[0];
		if (msd_ml_transform_of(c->node) == MSD_ML_NONE)
			sums[0] = 1 - sums[1];
	} else {
		msd_ml_put_label(c, row, msd_ml_largest(sums, n));
	}
	msd_ml_transform(msd_ml_transform_of(c->node), sums, n);
	msd_ml_put(c, 1, row, sums, n);
}

static msd_err run_classifier(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[1];
	size_t n, n_coefficients;

	(void)msd_ml_ints(c, "labels", &n);
	(void)msd_ml_floats(c, "coefficients", &n_coefficients);
	double *sums = calloc(n + 1, sizeof(*sums));
	if (sums == NULL)
		return msd_diag_no_memory(d);
	for (size_t row = 0; row < (size_t)msd_kernel_in_dims(c, 0)[0]; row++) {
		sums_of(c, row, sums, n_coefficients / features);
		put_row(c, row, sums, n_coefficients / features, n);
	}
	free(sums);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_linear_regressor = {"LinearRegressor", run_regressor,
						       MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_linear_classifier = {
	"LinearClassifier", run_classifier, MSD_TAKES_NUMBERS};
