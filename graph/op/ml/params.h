#ifndef MSD_GRAPH_OP_ML_PARAMS_H
#define MSD_GRAPH_OP_ML_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_BINARIZER(X) X(FLOAT, threshold, 0, RARE)

#define MSD_PARAMS_IMPUTER(X)                                                          \
	X(FLOATS, floats, NULL, RARE)                                                  \
	X(INTS, ints, NULL, RARE)                                                      \
	X(FLOAT, replaced_float, 0, RARE)                                              \
	X(INT, replaced_int, 0, RARE)

#define MSD_PARAMS_LABEL_ENCODER(X)                                                    \
	X(FLOATS, keys_floats, NULL, RARE)                                             \
	X(INTS, keys_int64s, NULL, RARE)                                               \
	X(FLOATS, values_floats, NULL, RARE)                                           \
	X(INTS, values_int64s, NULL, RARE)                                             \
	X(FLOAT, default_float, 0, RARE)                                               \
	X(INT, default_int64, -1, RARE)

#define MSD_PARAMS_HOT_ENCODER(X)                                                      \
	X(INTS, categories, NULL, RARE)                                                \
	X(INT, zeros, 1, RARE)

#define MSD_PARAMS_TREE_ENSEMBLE(X)                                                    \
	X(INT, n_targets, 1, RARE)                                                     \
	X(INT, aggregate_function, 1, RARE)                                            \
	X(INT, post_transform, 0, RARE)                                                \
	X(INTS, tree_roots, NULL, RARE)                                                \
	X(INTS, nodes_featureids, NULL, RARE)                                          \
	X(INTS, nodes_truenodeids, NULL, RARE)                                         \
	X(INTS, nodes_falsenodeids, NULL, RARE)                                        \
	X(INTS, nodes_trueleafs, NULL, RARE)                                           \
	X(INTS, nodes_falseleafs, NULL, RARE)                                          \
	X(INTS, nodes_missing_value_tracks_true, NULL, RARE)                           \
	X(INTS, leaf_targetids, NULL, RARE)

#define MSD_PARAMS_LINEAR_REGRESSOR(X)                                                 \
	X(FLOATS, coefficients, NULL, RARE)                                            \
	X(FLOATS, intercepts, NULL, RARE)                                              \
	X(STR, post_transform, "NONE", RARE)                                           \
	X(INT, targets, 1, RARE)

#define MSD_PARAMS_LINEAR_CLASSIFIER(X)                                                \
	X(FLOATS, coefficients, NULL, RARE)                                            \
	X(FLOATS, intercepts, NULL, RARE)                                              \
	X(INT, multi_class, 0, RARE)                                                   \
	X(STR, post_transform, "NONE", RARE)                                           \
	X(INTS, labels, NULL, RARE)

#define MSD_PARAMS_SCALER(X)                                                           \
	X(FLOATS, offset, NULL, RARE)                                                  \
	X(FLOATS, scale, NULL, RARE)

#define MSD_PARAMS_NORMALIZER(X) X(STR, norm, "MAX", RARE)

#define MSD_PARAMS_TREE(X)                                                             \
	X(FLOATS, base_values, NULL, RARE)                                             \
	X(INTS, nodes_treeids, NULL, RARE)                                             \
	X(INTS, nodes_nodeids, NULL, RARE)                                             \
	X(INTS, nodes_featureids, NULL, RARE)                                          \
	X(STR, nodes_modes, "", RARE)                                                  \
	X(FLOATS, nodes_values, NULL, RARE)                                            \
	X(INTS, nodes_truenodeids, NULL, RARE)                                         \
	X(INTS, nodes_falsenodeids, NULL, RARE)                                        \
	X(INTS, nodes_missing_value_tracks_true, NULL, RARE)                           \
	X(FLOATS, nodes_hitrates, NULL, RARE)                                          \
	X(STR, post_transform, "NONE", RARE)                                           \
	X(INTS, weights_treeids, NULL, RARE)                                           \
	X(INTS, weights_nodeids, NULL, RARE)                                           \
	X(INTS, weights_ids, NULL, RARE)                                               \
	X(FLOATS, weights, NULL, RARE)

#define MSD_PARAMS_TREE_REGRESSOR(X)                                                   \
	MSD_PARAMS_TREE(X)                                                             \
	X(INT, n_targets, 1, RARE)                                                     \
	X(STR, aggregate_function, "SUM", RARE)

#define MSD_PARAMS_TREE_CLASSIFIER(X)                                                  \
	MSD_PARAMS_TREE(X)                                                             \
	X(INTS, labels, NULL, RARE)

#define MSD_PARAMS_VECTOR(X)                                                           \
	X(FLOATS, coefficients, NULL, RARE)                                            \
	X(FLOATS, kernel_params, NULL, RARE)                                           \
	X(STR, kernel_type, "LINEAR", RARE)                                            \
	X(STR, post_transform, "NONE", RARE)                                           \
	X(FLOATS, rho, NULL, RARE)                                                     \
	X(FLOATS, support_vectors, NULL, RARE)

#define MSD_PARAMS_VECTOR_REGRESSOR(X)                                                 \
	MSD_PARAMS_VECTOR(X)                                                           \
	X(INT, n_supports, 0, RARE)                                                    \
	X(INT, one_class, 0, RARE)

#define MSD_PARAMS_VECTOR_CLASSIFIER(X)                                                \
	MSD_PARAMS_VECTOR(X)                                                           \
	X(FLOATS, prob_a, NULL, RARE)                                                  \
	X(FLOATS, prob_b, NULL, RARE)                                                  \
	X(INTS, vectors_per_class, NULL, RARE)                                         \
	X(INTS, labels, NULL, RARE)

#define MSD_ML_PARAMS(X)                                                               \
	X(binarizer, MSD_PARAMS_BINARIZER)                                             \
	X(imputer, MSD_PARAMS_IMPUTER)                                                 \
	X(label_encoder, MSD_PARAMS_LABEL_ENCODER)                                     \
	X(hot_encoder, MSD_PARAMS_HOT_ENCODER)                                         \
	X(tree_ensemble, MSD_PARAMS_TREE_ENSEMBLE)                                     \
	X(linear_regressor, MSD_PARAMS_LINEAR_REGRESSOR)                               \
	X(linear_classifier, MSD_PARAMS_LINEAR_CLASSIFIER)                             \
	X(scaler, MSD_PARAMS_SCALER)                                                   \
	X(normalizer, MSD_PARAMS_NORMALIZER)                                           \
	X(tree, MSD_PARAMS_TREE)                                                       \
	X(tree_regressor, MSD_PARAMS_TREE_REGRESSOR)                                   \
	X(tree_classifier, MSD_PARAMS_TREE_CLASSIFIER)                                 \
	X(vector, MSD_PARAMS_VECTOR)                                                   \
	X(vector_regressor, MSD_PARAMS_VECTOR_REGRESSOR)                               \
	X(vector_classifier, MSD_PARAMS_VECTOR_CLASSIFIER)
MSD_ML_PARAMS(MSD_PARAMS)

#endif
