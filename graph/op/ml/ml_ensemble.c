/* TreeEnsemble of ai.onnx.ml 5: lists of inner nodes and of leaves. Numbers that are
 * tensors in ONNX are constant inputs. The kernel checks the values of the lists. */
#include "graph/op/ml/ml_ensemble.h"

#include "graph/ir/infer.h"
#include "graph/op/ml/ml.h"
#include "graph/op/op.h"

static const modser_sg_op_field ensemble_fields[] = {
	OP_OWN_INT("n_targets", 1),
	OP_OWN_INT("aggregate_function", 1),
	OP_OWN_INT("post_transform", 0),
	OP_OWN_INTS("tree_roots"),
	OP_OWN_INTS("nodes_featureids"),
	OP_OWN_INTS("nodes_truenodeids"),
	OP_OWN_INTS("nodes_falsenodeids"),
	OP_OWN_INTS("nodes_trueleafs"),
	OP_OWN_INTS("nodes_falseleafs"),
	OP_OWN_INTS("nodes_missing_value_tracks_true"),
	OP_OWN_INTS("leaf_targetids"),
};

static int check_count(const modser_sg_node *node, const char *name, size_t got,
		       size_t want)
{
	return got == want ? 0
			   : msd_infer_fail(node, "it has %zu %s, expected %zu", got,
					    name, want);
}

static size_t elements(const modser_sg_node *node, size_t i)
{
	return (size_t)msd_infer_product(node, i, 0, msd_infer_ndim(node, i));
}

static int check_lists(const modser_sg_node *node)
{
	static const char *const lists[] = {"nodes_truenodeids", "nodes_falsenodeids",
					    "nodes_trueleafs", "nodes_falseleafs"};
	const size_t n = msd_ml_count(node, "nodes_featureids");
	const size_t missing = msd_ml_count(node, "nodes_missing_value_tracks_true");

	for (size_t i = 0; i < OP_COUNT(lists); i++) {
		if (check_count(node, lists[i], msd_ml_count(node, lists[i]), n) != 0)
			return -1;
	}
	if (msd_ml_count(node, "tree_roots") == 0)
		return msd_infer_fail(node, "it has no trees");
	if (missing != 0 &&
	    check_count(node, "nodes_missing_value_tracks_true", missing, n) != 0)
		return -1;
	if (check_count(node, "nodes_modes", elements(node, MSD_ENSEMBLE_MODES), n) !=
		    0 ||
	    check_count(node, "nodes_splits", elements(node, MSD_ENSEMBLE_SPLITS), n) !=
		    0)
		return -1;
	return check_count(node, "leaf_weights", elements(node, MSD_ENSEMBLE_WEIGHTS),
			   msd_ml_count(node, "leaf_targetids"));
}

static int infer_ensemble(modser_sg_node *node)
{
	const int64_t targets = modser_sg_op_int(modser_sg_node_op(node), "n_targets");

	if (msd_infer_rank(node, 0, 2) != 0 ||
	    msd_infer_range(node, "n_targets", 1, INT32_MAX) != 0 ||
	    msd_infer_range(node, "aggregate_function", 0, 3) != 0)
		return -1;
	if (msd_infer_range(node, "post_transform", 0, 3) != 0) /* 4: PROBIT */
		return -1;
	if (check_lists(node) != 0)
		return -1;
	const int64_t dims[] = {msd_infer_dims(node, 0)[0], targets};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_tree_ensemble = {
	.name = "TreeEnsemble",
	OP_FIELDS(ensemble_fields),
	OP_IN(4, 5),
	.optional_in = 16,
	OP_OUT(1, 1),
	.infer = infer_ensemble,
};
