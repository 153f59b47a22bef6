/* Operators of the domain ai.onnx.ml, as exporters of scikit-learn models write them.
 * Text classes are rejected; the error names their attribute. */
#include "graph/serializer/onnx/rows/row.h"

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
	{0},
};
