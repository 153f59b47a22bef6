/* Ensembles of decision trees. Lists have an element for each node, or for each
 * weight of a leaf. Their values are checked when the tree is walked. */
#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/op.h"

#define TREE_FIELDS                                                                    \
	OP_OWN_FLOATS("base_values"), OP_OWN_INTS("nodes_treeids"),                    \
		OP_OWN_INTS("nodes_nodeids"), OP_OWN_INTS("nodes_featureids"),         \
		OP_OWN_TEXT("nodes_modes", ""), OP_OWN_FLOATS("nodes_values"),         \
		OP_OWN_INTS("nodes_truenodeids"), OP_OWN_INTS("nodes_falsenodeids"),   \
		OP_OWN_INTS("nodes_missing_value_tracks_true"),                        \
		OP_OWN_FLOATS("nodes_hitrates"),                                       \
		OP_OWN_TEXT("post_transform", "NONE"), OP_OWN_INTS("weights_treeids"), \
		OP_OWN_INTS("weights_nodeids"), OP_OWN_INTS("weights_ids"),            \
		OP_OWN_FLOATS("weights")

static int check_lists(const modser_sg_node *node, const char *const *names,
		       size_t n_names)
{
	const size_t n = msd_ml_count(node, names[0]);

	for (size_t i = 1; i < n_names; i++) {
		if (msd_ml_count(node, names[i]) != n) {
			return msd_infer_fail(node, "%s and %s differ in length",
					      names[0], names[i]);
		}
	}
	return n > 0 ? 0 : msd_infer_fail(node, "%s is empty", names[0]);
}

static int check_trees(const modser_sg_node *node, size_t n_out)
{
	static const char *const nodes[] = {"nodes_treeids",     "nodes_nodeids",
					    "nodes_featureids",  "nodes_values",
					    "nodes_truenodeids", "nodes_falsenodeids"};
	static const char *const weights[] = {"weights_treeids", "weights_nodeids",
					      "weights_ids", "weights"};
	const size_t base = msd_ml_count(node, "base_values");
	const size_t missing = msd_ml_count(node, "nodes_missing_value_tracks_true");

	if (msd_ml_check(node) != 0 || check_lists(node, nodes, OP_COUNT(nodes)) != 0 ||
	    check_lists(node, weights, OP_COUNT(weights)) != 0)
		return -1;
	if (missing != 0 && missing != msd_ml_count(node, "nodes_treeids")) {
		return msd_infer_fail(node, "nodes_missing_value_tracks_true has not "
					    "an element for each node");
	}
	if (base != 0 && base != n_out) {
		return msd_infer_fail(node, "it has %zu base_values, expected %zu",
				      base, n_out);
	}
	return 0;
}

static const modser_sg_op_field regressor_fields[] = {
	TREE_FIELDS,
	OP_OWN_INT("n_targets", 1),
	OP_OWN_TEXT("aggregate_function", "SUM"),
};

static int infer_regressor(modser_sg_node *node)
{
	const int64_t targets = modser_sg_op_int(modser_sg_node_op(node), "n_targets");

	if (targets < 1 || targets > INT32_MAX)
		return msd_infer_fail(node, "it has no targets");
	if (check_trees(node, (size_t)targets) != 0)
		return -1;
	return msd_ml_scores(node, 0, (size_t)targets);
}

const modser_sg_op_schema msd_op_tree_regressor = {
	.name = "TreeEnsembleRegressor",
	OP_FIELDS(regressor_fields),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_regressor,
};

static const modser_sg_op_field classifier_fields[] = {
	TREE_FIELDS,
	OP_OWN_INTS("labels"),
};

static int infer_classifier(modser_sg_node *node)
{
	const size_t classes = msd_ml_count(node, "labels");
	const size_t base = msd_ml_count(node, "base_values");

	if (classes < 2)
		return msd_infer_fail(node, "it has no two classes that are numbers");
	if (check_trees(node, base == 1 && classes == 2 ? 1 : classes) != 0)
		return -1;
	msd_infer_dtype(node, 0, MSD_ML_INT64);
	if (msd_infer_set(node, msd_infer_dims(node, 0), 1) != 0)
		return -1;
	return msd_ml_scores(node, 1, classes);
}

const modser_sg_op_schema msd_op_tree_classifier = {
	.name = "TreeEnsembleClassifier",
	OP_FIELDS(classifier_fields),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = infer_classifier,
};
