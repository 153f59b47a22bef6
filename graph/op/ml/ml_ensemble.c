/* TreeEnsemble of ai.onnx.ml 5: lists of inner nodes and of leaves. Numbers that are
 * tensors in ONNX are constant inputs. The kernel checks the values of the lists. */
#include "graph/op/ml/ml_ensemble.h"

#include "graph/ir/infer.h"
#include "graph/op/ml/params.h"
#include "graph/op/op.h"

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
	const struct msd_params_tree_ensemble p = msd_params_tree_ensemble(node);
	const size_t n = p.nodes_featureids.n;
	const size_t missing = p.nodes_missing_value_tracks_true.n;

	if (check_count(node, "nodes_truenodeids", p.nodes_truenodeids.n, n) != 0 ||
	    check_count(node, "nodes_falsenodeids", p.nodes_falsenodeids.n, n) != 0 ||
	    check_count(node, "nodes_trueleafs", p.nodes_trueleafs.n, n) != 0 ||
	    check_count(node, "nodes_falseleafs", p.nodes_falseleafs.n, n) != 0)
		return -1;
	if (p.tree_roots.n == 0)
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
			   p.leaf_targetids.n);
}

static int infer_ensemble(modser_sg_node *node)
{
	const int64_t targets = msd_params_tree_ensemble(node).n_targets;

	if (msd_infer_rank(node, 0, 2) != 0 ||
	    MSD_PARAM_RANGE(node, tree_ensemble, n_targets, 1, INT32_MAX) != 0 ||
	    MSD_PARAM_RANGE(node, tree_ensemble, aggregate_function, 0, 3) != 0 ||
	    /* 4: PROBIT */
	    MSD_PARAM_RANGE(node, tree_ensemble, post_transform, 0, 3) != 0 ||
	    check_lists(node) != 0)
		return -1;
	const int64_t dims[] = {msd_infer_dims(node, 0)[0], targets};
	return msd_infer_set(node, dims, 2);
}

const modser_sg_op_schema msd_op_tree_ensemble = {
	.name = "TreeEnsemble",
	OP_PARAMS(MSD_PARAMS_TREE_ENSEMBLE),
	OP_IN(4, 5),
	.optional_in = 16,
	OP_OUT(1, 1),
	.infer = infer_ensemble,
};
