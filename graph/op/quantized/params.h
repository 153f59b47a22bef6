#ifndef MSD_GRAPH_OP_QUANTIZED_PARAMS_H
#define MSD_GRAPH_OP_QUANTIZED_PARAMS_H
/* Lists of parameters, and the list of these lists. */
#include "graph/op/params.h"
#include "graph/op/window/params.h"

#define MSD_PARAMS_LIMITS(X)                                                           \
	X(FLOAT, low, 0, RARE)                                                         \
	X(FLOAT, high, 0, RARE)

#define MSD_PARAMS_CONV_INTEGER(X)                                                     \
	X(INT, kernel_h, 1, RARE)                                                      \
	X(INT, kernel_w, 1, RARE)                                                      \
	X(INT, stride_h, 1, RARE)                                                      \
	X(INT, stride_w, 1, RARE)                                                      \
	X(INT, dilation_h, 1, RARE)                                                    \
	X(INT, dilation_w, 1, RARE)                                                    \
	X(INT, group, 1, RARE)                                                         \
	X(INT, pad_h0, 0, RARE)                                                        \
	X(INT, pad_w0, 0, RARE)                                                        \
	X(INT, pad_h1, 0, RARE)                                                        \
	X(INT, pad_w1, 0, RARE)                                                        \
	X(INTS, kernel, NULL, RARE)                                                    \
	X(INTS, strides, NULL, RARE)                                                   \
	X(INTS, dilations, NULL, RARE)                                                 \
	X(INTS, pads, NULL, RARE)

#define MSD_PARAMS_QUANTIZED_CONVOLUTION(X)                                            \
	MSD_PARAMS_CONV_INTEGER(X)                                                     \
	MSD_PARAMS_LIMITS(X)

#define MSD_PARAMS_QUANTIZED_MAT_MUL(X)                                                \
	X(INT, transB, 0, RARE)                                                        \
	MSD_PARAMS_LIMITS(X)

#define MSD_PARAMS_QUANTIZED_BINARY(X)                                                 \
	X(INT, kind, 0, RARE)                                                          \
	MSD_PARAMS_LIMITS(X)

/* The first parameters of QuantizeLinear and DequantizeLinear. */
#define MSD_PARAMS_BLOCKS(X)                                                           \
	X(INT, axis, 1, RARE)                                                          \
	X(INT, block_size, 0, RARE)

#define MSD_PARAMS_QUANTIZE_LINEAR(X)                                                  \
	MSD_PARAMS_BLOCKS(X)                                                           \
	X(INT, saturate, 1, RARE)                                                      \
	X(STR, output_dtype, "", RARE)

#define MSD_PARAMS_DEQUANTIZE_LINEAR(X)                                                \
	MSD_PARAMS_BLOCKS(X)                                                           \
	X(STR, output_dtype, "", RARE)

#define MSD_PARAMS_QUANTIZED_POOLING(X)                                                \
	MSD_PARAMS_POOLING(X)                                                          \
	MSD_PARAMS_LIMITS(X)

#define MSD_QUANTIZED_PARAMS(X)                                                        \
	X(conv_integer, MSD_PARAMS_CONV_INTEGER)                                       \
	X(quantized_convolution, MSD_PARAMS_QUANTIZED_CONVOLUTION)                     \
	X(quantized_mat_mul, MSD_PARAMS_QUANTIZED_MAT_MUL)                             \
	X(quantized_binary, MSD_PARAMS_QUANTIZED_BINARY)                               \
	X(quantized_pooling, MSD_PARAMS_QUANTIZED_POOLING)                             \
	X(blocks, MSD_PARAMS_BLOCKS)                                                   \
	X(quantize_linear, MSD_PARAMS_QUANTIZE_LINEAR)                                 \
	X(dequantize_linear, MSD_PARAMS_DEQUANTIZE_LINEAR)
MSD_QUANTIZED_PARAMS(MSD_PARAMS)

#endif
