/* Ensembles of decision trees. Lists have an element for each node, or for each
 * weight of a leaf. Their values are checked when the tree is walked. */
#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

struct list {
	const char *name;
	size_t n;
};
#define LIST(p, field) ((struct list){#field, (p).field.n})

static int check_lists(const modser_sg_node *node, const struct list *lists,
		       size_t n_lists)
{
	for (size_t i = 1; i < n_lists; i++) {
		if (lists[i].n != lists[0].n) {
			return msd_infer_fail(node, "%s and %s differ in length",
					      lists[0].name, lists[i].name);
		}
	}
	return lists[0].n > 0 ? 0 : msd_infer_fail(node, "%s is empty", lists[0].name);
}

static int check_trees(const modser_sg_node *node, size_t n_out)
{
	const struct msd_params_tree p = msd_params_tree(node);
	const struct list nodes[] = {
		LIST(p, nodes_treeids),     LIST(p, nodes_nodeids),
		LIST(p, nodes_featureids),  LIST(p, nodes_values),
		LIST(p, nodes_truenodeids), LIST(p, nodes_falsenodeids)};
	const struct list weights[] = {LIST(p, weights_treeids),
				       LIST(p, weights_nodeids), LIST(p, weights_ids),
				       LIST(p, weights)};
	const size_t base = p.base_values.n;
	const size_t missing = p.nodes_missing_value_tracks_true.n;

	if (msd_ml_check(node, p.post_transform) != 0 ||
	    check_lists(node, nodes, OP_COUNT(nodes)) != 0 ||
	    check_lists(node, weights, OP_COUNT(weights)) != 0)
		return -1;
	if (missing != 0 && missing != p.nodes_treeids.n) {
		return msd_infer_fail(node, "nodes_missing_value_tracks_true has not "
					    "an element for each node");
	}
	if (base != 0 && base != n_out) {
		return msd_infer_fail(node, "it has %zu base_values, expected %zu",
				      base, n_out);
	}
	return 0;
}

static int infer_regressor(modser_sg_node *node)
{
	const int64_t targets = msd_params_tree_regressor(node).n_targets;

	if (targets < 1 || targets > INT32_MAX)
		return msd_infer_fail(node, "it has no targets");
	if (check_trees(node, (size_t)targets) != 0)
		return -1;
	return msd_ml_scores(node, 0, (size_t)targets);
}

const modser_sg_op_schema msd_op_tree_regressor = {
	.name = "TreeEnsembleRegressor",
	OP_PARAMS(MSD_PARAMS_TREE_REGRESSOR),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_regressor,
};

static int infer_classifier(modser_sg_node *node)
{
	const struct msd_params_tree_classifier p = msd_params_tree_classifier(node);
	const size_t classes = p.labels.n;
	const size_t base = p.base_values.n;

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
	OP_PARAMS(MSD_PARAMS_TREE_CLASSIFIER),
	OP_IN(1, 1),
	OP_OUT(1, 2),
	.infer = infer_classifier,
};
