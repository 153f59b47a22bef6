#ifndef MSD_GRAPH_OP_ELEMENT_PARAMS_H
#define MSD_GRAPH_OP_ELEMENT_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"

#define MSD_PARAMS_UNARY(X) X(INT, type, 0, SHOWN)

#define MSD_PARAMS_THRESHOLD(X) X(FLOAT, threshold, 0, SHOWN)

#define MSD_PARAMS_HARDSIGMOID(X)                                                      \
	X(FLOAT, alpha, 0.2, SHOWN)                                                    \
	X(FLOAT, beta, 0.5, SHOWN)

#define MSD_PARAMS_HARD_SWISH(X)                                                       \
	X(FLOAT, alpha, 1, SHOWN)                                                      \
	X(FLOAT, beta, 3, SHOWN)

#define MSD_PARAMS_SELU(X)                                                             \
	X(FLOAT, alpha, 1.67326319, SHOWN)                                             \
	X(FLOAT, lambda, 1.05070102, SHOWN)

#define MSD_PARAMS_ELU(X) X(FLOAT, alpha, 1, SHOWN)

#define MSD_PARAMS_CLIP(X)                                                             \
	X(FLOAT, max, 3.40282347e+38, SHOWN)                                           \
	X(FLOAT, min, -3.40282347e+38, SHOWN)

#define MSD_PARAMS_CAST(X)                                                             \
	X(INT, type_from, 1, SHOWN)                                                    \
	X(INT, type_to, 1, SHOWN)                                                      \
	X(STR, to, "", RARE)                                                           \
	X(INT, saturate, 1, RARE)                                                      \
	X(STR, round_mode, "up", RARE)

#define MSD_PARAMS_CELU(X) X(FLOAT, alpha, 1, RARE)

#define MSD_PARAMS_GELU(X) X(STR, approximate, "none", RARE)

#define MSD_PARAMS_THRESHOLDED_RELU(X) X(FLOAT, alpha, 1, RARE)

#define MSD_PARAMS_SHRINK(X)                                                           \
	X(FLOAT, bias, 0, RARE)                                                        \
	X(FLOAT, lambd, 0.5, RARE)

#define MSD_PARAMS_CAST_LIKE(X)                                                        \
	X(INT, saturate, 1, RARE)                                                      \
	X(STR, round_mode, "up", RARE)

#define MSD_PARAMS_IS_INF(X)                                                           \
	X(INT, detect_negative, 1, RARE)                                               \
	X(INT, detect_positive, 1, RARE)

#define MSD_PARAMS_ADDN(X) X(INT, axis, 0, SHOWN)

#define MSD_PARAMS_LOGICAL(X) X(INT, type, 0, SHOWN)

#define MSD_PARAMS_COMPARISON(X) X(INT, type, 0, SHOWN)

#define MSD_PARAMS_MOD(X) X(INT, fmod, 0, RARE)

#define MSD_PARAMS_BITWISE(X) X(INT, type, 0, RARE)

#define MSD_PARAMS_BIT_CAST(X) X(STR, to, "", RARE)

#define MSD_PARAMS_BIAS(X) X(INT, bias_size, 0, SHOWN)

#define MSD_PARAMS_SCALE(X)                                                            \
	X(INT, axis, 1, SHOWN)                                                         \
	X(INT, num_axes, 1, SHOWN)                                                     \
	X(INT, bias_term, 0, SHOWN)

#define MSD_PARAMS_ELTWISE(X)                                                          \
	X(INT, type, 2, SHOWN)                                                         \
	X(INT, caffe_flavor, 0, SHOWN)                                                 \
	X(FLOAT, shift, 0, SHOWN)                                                      \
	X(FLOAT, power, 1, SHOWN)                                                      \
	X(FLOAT, scale, 1, SHOWN)

#define MSD_PARAMS_PRELU(X)                                                            \
	X(INT, broadcasts, 0,                                                          \
	  RARE) /* the slopes align with the last axes, as in ONNX */

#define MSD_PARAMS_RELU(X) X(FLOAT, negative_slope, 0, SHOWN)

#define MSD_PARAMS_SWISH(X) X(FLOAT, alpha, 1, RARE)

#define MSD_ELEMENT_PARAMS(X)                                                          \
	X(unary, MSD_PARAMS_UNARY)                                                     \
	X(threshold, MSD_PARAMS_THRESHOLD)                                             \
	X(hardsigmoid, MSD_PARAMS_HARDSIGMOID)                                         \
	X(hard_swish, MSD_PARAMS_HARD_SWISH)                                           \
	X(selu, MSD_PARAMS_SELU)                                                       \
	X(elu, MSD_PARAMS_ELU)                                                         \
	X(clip, MSD_PARAMS_CLIP)                                                       \
	X(cast, MSD_PARAMS_CAST)                                                       \
	X(celu, MSD_PARAMS_CELU)                                                       \
	X(gelu, MSD_PARAMS_GELU)                                                       \
	X(thresholded_relu, MSD_PARAMS_THRESHOLDED_RELU)                               \
	X(shrink, MSD_PARAMS_SHRINK)                                                   \
	X(cast_like, MSD_PARAMS_CAST_LIKE)                                             \
	X(is_inf, MSD_PARAMS_IS_INF)                                                   \
	X(addn, MSD_PARAMS_ADDN)                                                       \
	X(logical, MSD_PARAMS_LOGICAL)                                                 \
	X(comparison, MSD_PARAMS_COMPARISON)                                           \
	X(mod, MSD_PARAMS_MOD)                                                         \
	X(bitwise, MSD_PARAMS_BITWISE)                                                 \
	X(bit_cast, MSD_PARAMS_BIT_CAST)                                               \
	X(bias, MSD_PARAMS_BIAS)                                                       \
	X(scale, MSD_PARAMS_SCALE)                                                     \
	X(eltwise, MSD_PARAMS_ELTWISE)                                                 \
	X(prelu, MSD_PARAMS_PRELU)                                                     \
	X(relu, MSD_PARAMS_RELU)                                                       \
	X(swish, MSD_PARAMS_SWISH)
MSD_ELEMENT_PARAMS(MSD_PARAMS)

#endif
