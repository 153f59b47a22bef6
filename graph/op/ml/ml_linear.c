/* Linear models: a sum of weighted features for each target, or for each class. */
#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

/* One coefficient for each pair of @n sums and features, one intercept for each sum
 * or none. */
static int check_weights(const modser_sg_node *node, size_t given, size_t intercepts,
			 size_t n)
{
	const int64_t features = msd_infer_dims(node, 0)[1];

	if (n == 0 || given % n != 0 || (int64_t)(given / n) != features) {
		return msd_infer_fail(node,
				      "it has %zu coefficients, expected %zu for "
				      "each feature",
				      given, n);
	}
	if (intercepts != 0 && intercepts != n) {
		return msd_infer_fail(node, "it has %zu intercepts, expected %zu",
				      intercepts, n);
	}
	return 0;
}

static int infer_regressor(modser_sg_node *node)
{
	const struct msd_params_linear_regressor p = msd_params_linear_regressor(node);

	if (msd_ml_check(node, p.post_transform) != 0)
		return -1;
	if (p.targets < 1 || p.targets > INT32_MAX)
		return msd_infer_fail(node, "it has no targets");
	if (check_weights(node, p.coefficients.n, p.intercepts.n, (size_t)p.targets) !=
	    0)
		return -1;
	return msd_ml_scores(node, 0, (size_t)p.targets);
}

const modser_sg_op_schema msd_op_linear_regressor = {
	.name = "LinearRegressor",
	OP_PARAMS(MSD_PARAMS_LINEAR_REGRESSOR),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_regressor,
};

/* Two classes may share one sum, which belongs to the second class. */
static int infer_classifier(modser_sg_node *node)
{
	const struct msd_params_linear_classifier p =
		msd_params_linear_classifier(node);
	const size_t classes = p.labels.n;

	if (msd_ml_check(node, p.post_transform) != 0)
		return -1;
	const int64_t features = msd_infer_dims(node, 0)[1];
	const size_t sums = features > 0 ? p.coefficients.n / (size_t)features : 0;
	if (classes < 2 || (sums != classes && !(classes == 2 && sums == 1))) {
		return msd_infer_fail(node,
				      "it has coefficients for %zu sums, and %zu "
				      "classes that are numbers",
				      sums, classes);
	}
	if (check_weights(node, p.coefficients.n, p.intercepts.n, sums) != 0)
		return -1;
	msd_infer_dtype(node, 0, MSD_ML_INT64);
	if (msd_infer_set(node, msd_infer_dims(node, 0), 1) != 0)
		return -1;
	return msd_ml_scores(node, 1, classes);
}

const modser_sg_op_schema msd_op_linear_classifier = {
	.name = "LinearClassifier",
	OP_PARAMS(MSD_PARAMS_LINEAR_CLASSIFIER),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = infer_classifier,
};
