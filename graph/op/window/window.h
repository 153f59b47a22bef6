#ifndef MSD_GRAPH_OP_WINDOW_H
#define MSD_GRAPH_OP_WINDOW_H
/*
 * Sliding windows of convolutions and poolings. There are always three axes, depth,
 * height and width; missing axes have the extent 1. Parameters of two axes are tmfile
 * fields; those of one or three are lists.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

#define MSD_OP_AXES 3u

/* The operator that the pass `fuse` makes: a convolution, then factors and addends of
 * a batch norm, a residual and one of these functions, with parameters a and b. */
#define MSD_FUSED_CONVOLUTION "FusedConvolution"
#define MSD_FUSED_CONVOLUTION_RESIDUAL 4u /* input */
enum msd_fused {
	MSD_FUSED_NONE,
	MSD_FUSED_BOUNDS, /* not below a, not above b */
	MSD_FUSED_LEAKY,  /* times a where it is negative */
	MSD_FUSED_SIGMOID,
	MSD_FUSED_SILU,       /* x * sigmoid(x) */
	MSD_FUSED_HARD_SWISH, /* x * (a x + b), that factor from 0 to 1 */
	MSD_FUSED_TANH,
	MSD_FUSED_GELU,
	MSD_FUSED_GELU_TANH, /* approximated */
	MSD_FUSED_COUNT
};

/* The operator that the pass `quantize` makes of a convolution of quantized numbers:
 * the inputs of QLinearConv, limits of its values, and perhaps a float bias. */
#define MSD_QUANTIZED_CONVOLUTION "QuantizedConvolution"

struct msd_op_window {
	int64_t in;
	int64_t kernel;
	int64_t stride;
	int64_t dilation;
	int64_t before; /* padding */
	int64_t after;
	int64_t out; /* number of positions */
};

/** From the first to the last element that one window covers. */
int64_t msd_op_window_reach(const struct msd_op_window *w);

/** The index of the kernels input of a convolution, quantized or not. */
size_t msd_op_conv_weights(const modser_sg_node *node);
/**
 * Check a convolution's parameters and inputs, except their dtypes; @bias is the
 * input to add. Sets output 0's extents.
 */
MSD_MUST_CHECK int msd_op_conv_infer(const modser_sg_node *node, size_t bias);
/** Check a pooling's parameters and set its outputs' extents. */
MSD_MUST_CHECK int msd_op_pool_infer(modser_sg_node *node);
/**
 * The windows of a convolution, a Pooling and a Deconvolution, including their `in`
 * and `out`. Valid only after inference.
 */
void msd_op_conv_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES]);
void msd_op_pool_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES]);
void msd_op_deconv_windows(const modser_sg_node *node,
			   struct msd_op_window ret[static MSD_OP_AXES]);

/* Names of parameters: a list, and the fields for height and width. */
struct msd_op_window_names {
	const char *list;
	const char *hw[2];
};

/** The value for axis @i of @n; @otherwise if a list is empty. */
int64_t msd_op_window_param(const modser_sg_node *node,
			    const struct msd_op_window_names *names, size_t i, size_t n,
			    int64_t otherwise);
/** The padding before and after axis @i. */
void msd_op_window_pads(const modser_sg_node *node, size_t i, size_t n,
			struct msd_op_window *ret);
/** The number of spatial axes: the axes of input 0 minus two, 1 to 3. */
MSD_MUST_CHECK int msd_op_window_axes(const modser_sg_node *node, size_t *ret);
/**
 * Check that every value of @names is in the range, and that its list is empty or has
 * the right length.
 */
MSD_MUST_CHECK int msd_op_window_check(const modser_sg_node *node,
				       const struct msd_op_window_names *names,
				       size_t n, int64_t min, int64_t max);
MSD_MUST_CHECK int msd_op_window_check_pads(const modser_sg_node *node, size_t n,
					    int64_t min);

#endif
