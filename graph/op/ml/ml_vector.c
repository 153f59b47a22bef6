/* Support vector machines: a row's similarity to each support vector, weighted and
 * summed; a classifier does so for each pair of classes. */
#include "graph/op/ml/ml_vector.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

enum msd_ml_likeness msd_ml_likeness_of(const modser_sg_node *node)
{
	static const char *const words[] = {[MSD_ML_LINEAR] = "LINEAR",
					    [MSD_ML_POLY] = "POLY",
					    [MSD_ML_RBF] = "RBF",
					    [MSD_ML_SIGMOID] = "SIGMOID"};
	const char *said = msd_params_vector(node).kernel_type;
	unsigned i = 0;

	while (i < MSD_ML_LIKENESS_COUNT && strcmp(words[i], said) != 0)
		i++;
	return (enum msd_ml_likeness)i;
}

static int check_count(const modser_sg_node *node, const char *param, size_t n,
		       uint64_t want)
{
	if (n == want)
		return 0;
	return msd_infer_fail(node, "it has %zu %s, expected %llu", n, param,
			      (unsigned long long)want);
}

/* Check for @n support vectors, as long as a row. */
static int check_vectors(const modser_sg_node *node, uint64_t n)
{
	const struct msd_params_vector p = msd_params_vector(node);

	if (msd_ml_check(node, p.post_transform) != 0)
		return -1;
	if (msd_ml_likeness_of(node) == MSD_ML_LIKENESS_COUNT) {
		return msd_infer_fail(node, "its kernel_type is \"%s\"", p.kernel_type);
	}
	if (msd_ml_likeness_of(node) != MSD_ML_LINEAR &&
	    check_count(node, "kernel_params", p.kernel_params.n, 3) != 0)
		return -1;
	return check_count(node, "support_vectors", p.support_vectors.n,
			   n * (uint64_t)msd_infer_dims(node, 0)[1]);
}

/* Without support vectors the coefficients form a linear model. */
static int infer_regressor(modser_sg_node *node)
{
	const struct msd_params_vector_regressor p = msd_params_vector_regressor(node);
	const int64_t n = p.n_supports;

	if (MSD_PARAM_RANGE(node, vector_regressor, n_supports, 0, INT32_MAX) != 0 ||
	    check_vectors(node, (uint64_t)n) != 0 ||
	    check_count(node, "rho", p.rho.n, 1) != 0 ||
	    check_count(node, "coefficients", p.coefficients.n,
			(uint64_t)(n > 0 ? n : msd_infer_dims(node, 0)[1])) != 0)
		return -1;
	return msd_ml_scores(node, 0, 1);
}

const modser_sg_op_schema msd_op_vector_regressor = {
	.name = "SVMRegressor",
	OP_PARAMS(MSD_PARAMS_VECTOR_REGRESSOR),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_regressor,
};

/* The number of support vectors of all classes; -1 with the error. */
static int64_t count_vectors(const modser_sg_node *node, size_t classes)
{
	const struct msd_params_vector_classifier p =
		msd_params_vector_classifier(node);
	const struct msd_ints each = p.vectors_per_class;
	int64_t n = 0;

	if (check_count(node, "vectors_per_class", p.vectors_per_class.n, classes) != 0)
		return -1;
	for (size_t i = 0; i < classes; i++) {
		if (each.at[i] < 0 || each.at[i] > INT32_MAX)
			return msd_infer_fail(node, "a class has no number of vectors");
		n += each.at[i];
	}
	return n;
}

static int infer_classifier(modser_sg_node *node)
{
	const struct msd_params_vector_classifier p =
		msd_params_vector_classifier(node);
	const size_t classes = p.labels.n;
	const size_t pairs = classes < 2 ? 0 : classes * (classes - 1) / 2;
	const size_t probable = p.prob_a.n;

	if (classes < 2 || classes > INT32_MAX)
		return msd_infer_fail(node, "it has no two classes that are numbers");
	const int64_t n = count_vectors(node, classes);
	if (n < 0 || check_vectors(node, (uint64_t)n) != 0 ||
	    check_count(node, "coefficients", p.coefficients.n,
			(uint64_t)n * (classes - 1)) != 0 ||
	    check_count(node, "rho", p.rho.n, pairs) != 0 ||
	    check_count(node, "prob_b", p.prob_b.n, probable) != 0 ||
	    (probable != 0 && check_count(node, "prob_a", p.prob_a.n, pairs) != 0))
		return -1;
	msd_infer_dtype(node, 0, MSD_ML_INT64);
	if (msd_infer_set(node, msd_infer_dims(node, 0), 1) != 0)
		return -1;
	return msd_ml_scores(node, 1, probable != 0 || classes == 2 ? classes : pairs);
}

const modser_sg_op_schema msd_op_vector_classifier = {
	.name = "SVMClassifier",
	OP_PARAMS(MSD_PARAMS_VECTOR_CLASSIFIER),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = infer_classifier,
};
