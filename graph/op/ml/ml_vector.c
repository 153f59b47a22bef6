/* Support vector machines: a row's similarity to each support vector, weighted and
 * summed; a classifier does so for each pair of classes. */
#include "graph/op/ml/ml_vector.h"

#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/op.h"

#define VECTOR_FIELDS                                                                  \
	OP_OWN_FLOATS("coefficients"), OP_OWN_FLOATS("kernel_params"),                 \
		OP_OWN_TEXT("kernel_type", "LINEAR"),                                  \
		OP_OWN_TEXT("post_transform", "NONE"), OP_OWN_FLOATS("rho"),           \
		OP_OWN_FLOATS("support_vectors")

enum msd_ml_likeness msd_ml_likeness_of(const modser_sg_node *node)
{
	static const char *const words[] = {[MSD_ML_LINEAR] = "LINEAR",
					    [MSD_ML_POLY] = "POLY",
					    [MSD_ML_RBF] = "RBF",
					    [MSD_ML_SIGMOID] = "SIGMOID"};
	const char *said =
		modser_sg_op_param(modser_sg_node_op(node), "kernel_type")->as.s;
	unsigned i = 0;

	while (i < MSD_ML_LIKENESS_COUNT && strcmp(words[i], said) != 0)
		i++;
	return (enum msd_ml_likeness)i;
}

static int check_count(const modser_sg_node *node, const char *param, uint64_t want)
{
	const size_t n = msd_ml_count(node, param);

	if (n == want)
		return 0;
	return msd_infer_fail(node, "it has %zu %s, expected %llu", n, param,
			      (unsigned long long)want);
}

/* Check for @n support vectors, as long as a row. */
static int check_vectors(const modser_sg_node *node, uint64_t n)
{
	if (msd_ml_check(node) != 0)
		return -1;
	if (msd_ml_likeness_of(node) == MSD_ML_LIKENESS_COUNT) {
		return msd_infer_fail(
			node, "its kernel_type is \"%s\"",
			modser_sg_op_param(modser_sg_node_op(node), "kernel_type")
				->as.s);
	}
	if (msd_ml_likeness_of(node) != MSD_ML_LINEAR &&
	    check_count(node, "kernel_params", 3) != 0)
		return -1;
	return check_count(node, "support_vectors",
			   n * (uint64_t)msd_infer_dims(node, 0)[1]);
}

static const modser_sg_op_field regressor_fields[] = {
	VECTOR_FIELDS,
	OP_OWN_INT("n_supports", 0),
	OP_OWN_INT("one_class", 0),
};

/* Without support vectors the coefficients form a linear model. */
static int infer_regressor(modser_sg_node *node)
{
	const int64_t n = modser_sg_op_int(modser_sg_node_op(node), "n_supports");

	if (msd_infer_range(node, "n_supports", 0, INT32_MAX) != 0 ||
	    check_vectors(node, (uint64_t)n) != 0 || check_count(node, "rho", 1) != 0 ||
	    check_count(node, "coefficients",
			(uint64_t)(n > 0 ? n : msd_infer_dims(node, 0)[1])) != 0)
		return -1;
	return msd_ml_scores(node, 0, 1);
}

const modser_sg_op_schema msd_op_vector_regressor = {
	.name = "SVMRegressor",
	OP_FIELDS(regressor_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_regressor,
};

static const modser_sg_op_field classifier_fields[] = {
	VECTOR_FIELDS,           OP_OWN_FLOATS("prob_a"),
	OP_OWN_FLOATS("prob_b"), OP_OWN_INTS("vectors_per_class"),
	OP_OWN_INTS("labels"),
};

/* The number of support vectors of all classes; -1 with the error. */
static int64_t count_vectors(const modser_sg_node *node, size_t classes)
{
	const modser_sg_attr *each =
		modser_sg_op_param(modser_sg_node_op(node), "vectors_per_class");
	int64_t n = 0;

	if (check_count(node, "vectors_per_class", classes) != 0)
		return -1;
	for (size_t i = 0; i < classes; i++) {
		if (each->as.ints[i] < 0 || each->as.ints[i] > INT32_MAX)
			return msd_infer_fail(node, "a class has no number of vectors");
		n += each->as.ints[i];
	}
	return n;
}

static int infer_classifier(modser_sg_node *node)
{
	const size_t classes = msd_ml_count(node, "labels");
	const size_t pairs = classes < 2 ? 0 : classes * (classes - 1) / 2;
	const size_t probable = msd_ml_count(node, "prob_a");

	if (classes < 2 || classes > INT32_MAX)
		return msd_infer_fail(node, "it has no two classes that are numbers");
	const int64_t n = count_vectors(node, classes);
	if (n < 0 || check_vectors(node, (uint64_t)n) != 0 ||
	    check_count(node, "coefficients", (uint64_t)n * (classes - 1)) != 0 ||
	    check_count(node, "rho", pairs) != 0 ||
	    check_count(node, "prob_b", probable) != 0 ||
	    (probable != 0 && check_count(node, "prob_a", pairs) != 0))
		return -1;
	msd_infer_dtype(node, 0, MSD_ML_INT64);
	if (msd_infer_set(node, msd_infer_dims(node, 0), 1) != 0)
		return -1;
	return msd_ml_scores(node, 1, probable != 0 || classes == 2 ? classes : pairs);
}

const modser_sg_op_schema msd_op_vector_classifier = {
	.name = "SVMClassifier",
	OP_FIELDS(classifier_fields),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = infer_classifier,
};
