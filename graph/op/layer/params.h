#ifndef MSD_GRAPH_OP_LAYER_PARAMS_H
#define MSD_GRAPH_OP_LAYER_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_BATCH_NORMALIZATION(X)                                              \
	X(FLOAT, rescale_factor, 1, SHOWN)                                             \
	X(FLOAT, eps, 1e-5, SHOWN)                                                     \
	X(INT, caffe_flavor, 0, SHOWN)                                                 \
	X(INT, training_mode, 0, RARE)                                                 \
	X(FLOAT, momentum, 0.9, RARE)

#define MSD_PARAMS_CENTER_CROP_PAD(X) X(INTS, axes, NULL, RARE)

#define MSD_PARAMS_EINSUM(X) X(STR, equation, "", RARE)

#define MSD_PARAMS_FULLY_CONNECTED(X) X(INT, num_output, 1, SHOWN)

#define MSD_PARAMS_LOSS(X)                                                             \
	X(STR, reduction, "mean", RARE)                                                \
	X(INT, ignore_index, MSD_OP_IGNORES_NONE, RARE)

#define MSD_PARAMS_LRN(X)                                                              \
	X(INT, local_size, 5, SHOWN)                                                   \
	X(FLOAT, alpha, 1, SHOWN)                                                      \
	X(FLOAT, beta, 0.75, SHOWN)                                                    \
	X(INT, norm_region, 0, SHOWN)                                                  \
	X(FLOAT, k, 1, SHOWN)                                                          \
	X(FLOAT, bias, 0, SHOWN)                                                       \
	X(INT, is_onnx, 0, SHOWN)

#define MSD_PARAMS_GEMM(X)                                                             \
	X(FLOAT, alpha, 1, SHOWN)                                                      \
	X(FLOAT, beta, 1, SHOWN)                                                       \
	X(INT, transA, 0, SHOWN)                                                       \
	X(INT, transB, 0, SHOWN)

#define MSD_PARAMS_FUSED_PRODUCT(X)                                                    \
	X(INT, transB, 0, RARE)                                                        \
	X(INT, fused, MSD_FUSED_NONE, RARE)                                            \
	X(FLOAT, fused_a, 0, RARE)                                                     \
	X(FLOAT, fused_b, 0, RARE)

#define MSD_PARAMS_EMBEDDING(X)                                                        \
	X(INT, num_output, 0, SHOWN)                                                   \
	X(INT, input_dim, 0, SHOWN)                                                    \
	X(INT, bias_term, 0, SHOWN)                                                    \
	X(INT, weight_data_size, 0, SHOWN)

#define MSD_PARAMS_MEAN_VARIANCE(X) X(INTS, axes, NULL, RARE)

#define MSD_PARAMS_NORMALIZE(X)                                                        \
	X(INT, across_spatial, 0, SHOWN)                                               \
	X(INT, channel_shared, 0, SHOWN)

#define MSD_PARAMS_INSTANCE_NORM(X) X(FLOAT, eps, 1e-5, SHOWN)

#define MSD_PARAMS_MVN(X)                                                              \
	X(INT, across_channels, 0, SHOWN)                                              \
	X(INT, normalize_variance, 1, SHOWN)                                           \
	X(FLOAT, eps, 1e-9, SHOWN)

#define MSD_PARAMS_LAYER_NORM(X)                                                       \
	X(FLOAT, eps, 1e-5, SHOWN)                                                     \
	X(INT, axis, -1, RARE)

#define MSD_PARAMS_GROUP_NORM(X)                                                       \
	X(INT, num_groups, 1, RARE)                                                    \
	X(FLOAT, eps, 1e-5, RARE)

#define MSD_PARAMS_LP_NORM(X)                                                          \
	X(INT, axis, -1, RARE)                                                         \
	X(INT, p, 2, RARE)

#define MSD_PARAMS_RMS_NORM(X)                                                         \
	X(INT, axis, -1, RARE)                                                         \
	X(FLOAT, eps, 1e-5, RARE)

#define MSD_PARAMS_SOFTMAX(X)                                                          \
	X(INT, axis, 1, SHOWN)                                                         \
	X(INT, flattens, 0,                                                            \
	  RARE) /* normalizes over the axes after it, too: ONNX up to opset 12 */

#define MSD_PARAMS_HARDMAX(X)                                                          \
	X(INT, axis, -1, RARE)                                                         \
	X(INT, flattens, 0, RARE)

#define MSD_LAYER_PARAMS(X)                                                            \
	X(batch_normalization, MSD_PARAMS_BATCH_NORMALIZATION)                         \
	X(center_crop_pad, MSD_PARAMS_CENTER_CROP_PAD)                                 \
	X(einsum, MSD_PARAMS_EINSUM)                                                   \
	X(fully_connected, MSD_PARAMS_FULLY_CONNECTED)                                 \
	X(loss, MSD_PARAMS_LOSS)                                                       \
	X(lrn, MSD_PARAMS_LRN)                                                         \
	X(gemm, MSD_PARAMS_GEMM)                                                       \
	X(fused_product, MSD_PARAMS_FUSED_PRODUCT)                                     \
	X(embedding, MSD_PARAMS_EMBEDDING)                                             \
	X(mean_variance, MSD_PARAMS_MEAN_VARIANCE)                                     \
	X(normalize, MSD_PARAMS_NORMALIZE)                                             \
	X(instance_norm, MSD_PARAMS_INSTANCE_NORM)                                     \
	X(mvn, MSD_PARAMS_MVN)                                                         \
	X(layer_norm, MSD_PARAMS_LAYER_NORM)                                           \
	X(group_norm, MSD_PARAMS_GROUP_NORM)                                           \
	X(lp_norm, MSD_PARAMS_LP_NORM)                                                 \
	X(rms_norm, MSD_PARAMS_RMS_NORM)                                               \
	X(softmax, MSD_PARAMS_SOFTMAX)                                                 \
	X(hardmax, MSD_PARAMS_HARDMAX)
MSD_LAYER_PARAMS(MSD_PARAMS)

#endif
