/* Operators of the domain ai.onnx.ml, as exporters of scikit-learn models write them.
 * Text classes are rejected; the error names their attribute. ZipMap names columns of
 * probabilities, which here stay a tensor. */
#include "graph/ir/graph.h"
#include "graph/op/ml/ml_ensemble.h"
#include "graph/serializer/onnx/rows/row.h"
#include "graph/serializer/onnx/tensor.h"

#define TREES                                                                          \
	"base_values nodes_treeids! nodes_nodeids! nodes_featureids! nodes_modes! "    \
	"nodes_values! nodes_truenodeids! nodes_falsenodeids! "                        \
	"nodes_missing_value_tracks_true nodes_hitrates post_transform "
#define TARGETS                                                                        \
	"target_treeids=weights_treeids target_nodeids=weights_nodeids "               \
	"target_ids=weights_ids target_weights=weights n_targets! aggregate_function"
#define CLASSES                                                                        \
	"class_treeids=weights_treeids class_nodeids=weights_nodeids "                 \
	"class_ids=weights_ids class_weights=weights classlabels_int64s=labels"
#define VECTORS                                                                        \
	"coefficients kernel_params kernel_type post_transform rho support_vectors "

/* Attributes that are tensors become constant inputs. */
static int load_ensemble(struct onnx_node *n)
{
	static const char *const names[] = {[MSD_ENSEMBLE_MODES] = "nodes_modes",
					    [MSD_ENSEMBLE_SPLITS] = "nodes_splits",
					    [MSD_ENSEMBLE_WEIGHTS] = "leaf_weights",
					    [MSD_ENSEMBLE_MEMBERS] =
						    "membership_values"};

	if (n->node->n_inputs != 1)
		return onnx_fail(n, "it has %zu inputs, expected 1", n->node->n_inputs);
	for (size_t i = MSD_ENSEMBLE_MODES; i <= MSD_ENSEMBLE_MEMBERS; i++) {
		const Onnx__AttributeProto *a = onnx_attr(n, names[i]);
		modser_sg_tensor *t = NULL;

		if (a == NULL)
			continue;
		if (a->t == NULL)
			return onnx_fail(n, "attribute \"%s\" is no tensor", names[i]);
		t = onnx_tensor_read(n->l, a->t, names[i]);
		if (t == NULL || onnx_put_input(n, i, t) != 0)
			return -1;
	}
	return 0;
}

const struct onnx_row onnx_rows_ml[] = {
	{"ArrayFeatureExtractor", 1, "ArrayFeatureExtractor", "", NULL},
	{"Binarizer", 1, "Binarizer", "threshold", NULL},
	{"Imputer", 1, "Imputer",
	 "imputed_value_floats=floats imputed_value_int64s=ints "
	 "replaced_value_float=replaced_float replaced_value_int64=replaced_int",
	 NULL},
	{"LabelEncoder", 2, "LabelEncoder",
	 "keys_floats keys_int64s values_floats values_int64s default_float "
	 "default_int64 -default_string",
	 NULL},
	{"LinearClassifier", 1, "LinearClassifier",
	 "coefficients! intercepts multi_class post_transform classlabels_ints=labels",
	 NULL},
	{"LinearRegressor", 1, "LinearRegressor",
	 "coefficients! intercepts post_transform targets", NULL},
	{"Normalizer", 1, "Normalizer", "norm", NULL},
	{"OneHotEncoder", 1, "OneHotEncoder", "cats_int64s=categories zeros", NULL},
	{"SVMClassifier", 1, "SVMClassifier",
	 VECTORS "prob_a prob_b vectors_per_class classlabels_ints=labels", NULL},
	{"SVMRegressor", 1, "SVMRegressor", VECTORS "n_supports one_class", NULL},
	{"Scaler", 1, "Scaler", "offset! scale!", NULL},
	{"TreeEnsembleClassifier", 1, "TreeEnsembleClassifier", TREES CLASSES, NULL},
	{"TreeEnsembleRegressor", 1, "TreeEnsembleRegressor", TREES TARGETS, NULL},
	{"TreeEnsemble", 5, "TreeEnsemble",
	 "n_targets aggregate_function post_transform tree_roots! nodes_featureids! "
	 "nodes_truenodeids! nodes_falsenodeids! nodes_trueleafs! nodes_falseleafs! "
	 "nodes_missing_value_tracks_true leaf_targetids! -nodes_hitrates "
	 "-nodes_modes! -nodes_splits! -leaf_weights! -membership_values",
	 load_ensemble},
	{"ZipMap", 1, "Noop", "-classlabels_int64s -classlabels_strings", NULL},
	{0},
};
