/* Linear models of ai.onnx.ml. */
#include <stdlib.h>

#include "graph/op/ml/params.h"
#include "runtime/engine/reference/ml/ml_score.h"
#include "runtime/kernel/kernels.h"

/* The @n sums of row @row. */
static void sums_of(const struct msd_kernel_call *c, const float *w,
		    struct msd_floats intercepts, size_t row, double *ret, size_t n)
{
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[1];

	for (size_t k = 0; k < n; k++) {
		ret[k] = intercepts.n > 0 ? (double)intercepts.at[k] : 0;
		for (size_t i = 0; i < features; i++) {
			ret[k] += (double)w[k * features + i] *
				  msd_kernel_get(c, 0, row * features + i);
		}
	}
}

static msd_err run_regressor(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_linear_regressor p =
		msd_params_linear_regressor(c->node);
	const enum msd_ml_transform how = msd_ml_transform_of(p.post_transform);
	const size_t n = (size_t)msd_kernel_out_dims(c, 0)[1];
	double *sums = calloc(n + 1, sizeof(*sums));

	if (sums == NULL)
		return msd_diag_no_memory(d);
	for (size_t row = 0; row < (size_t)msd_kernel_in_dims(c, 0)[0]; row++) {
		sums_of(c, p.coefficients.at, p.intercepts, row, sums, n);
		msd_ml_transform(how, sums, n);
		msd_ml_put(c, 0, row, sums, n);
	}
	free(sums);
	return MSD_OK;
}

/* With two classes, one sum belongs to the second class, and its sign decides. */
static void put_row(const struct msd_kernel_call *c,
		    const struct msd_params_linear_classifier *p, size_t row,
		    double *sums, size_t n_sums)
{
	const enum msd_ml_transform how = msd_ml_transform_of(p->post_transform);
	const size_t n = p->labels.n;

	if (n_sums < n) {
		msd_ml_put_label(c, row, p->labels.at[sums[0] > 0 ? 1 : 0]);
		sums[1] = sums[0];
		sums[0] = -sums[0];
		if (how == MSD_ML_NONE)
			sums[0] = 1 - sums[1];
	} else {
		msd_ml_put_label(c, row, p->labels.at[msd_ml_largest(sums, n)]);
	}
	msd_ml_transform(how, sums, n);
	msd_ml_put(c, 1, row, sums, n);
}

static msd_err run_classifier(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_linear_classifier p =
		msd_params_linear_classifier(c->node);
	const size_t features = (size_t)msd_kernel_in_dims(c, 0)[1];
	double *sums = calloc(p.labels.n + 1, sizeof(*sums));

	if (sums == NULL)
		return msd_diag_no_memory(d);
	for (size_t row = 0; row < (size_t)msd_kernel_in_dims(c, 0)[0]; row++) {
		const size_t n_sums = p.coefficients.n / features;

		sums_of(c, p.coefficients.at, p.intercepts, row, sums, n_sums);
		put_row(c, &p, row, sums, n_sums);
	}
	free(sums);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_linear_regressor = {"LinearRegressor", run_regressor,
						       MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_linear_classifier = {
	"LinearClassifier", run_classifier, MSD_TAKES_NUMBERS};
