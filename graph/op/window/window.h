#ifndef MSD_GRAPH_OP_WINDOW_H
#define MSD_GRAPH_OP_WINDOW_H
/*
 * Sliding windows of convolutions and poolings. There are always three axes, depth,
 * height and width; missing axes have the extent 1. Parameters of two axes are tmfile
 * fields; those of one or three are lists.
 */
#include "graph/modser_graph.h"
#include "graph/op/params.h"
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

/* A number for each axis: a list, or if there are two axes, height and width. */
struct msd_op_each {
	struct msd_ints list;
	int64_t hw[2];
	const char *name;
	const char *hw_names[2]; /* NULL: always a list */
};
#define MSD_OP_EACH(p, list, h, w)                                                     \
	((struct msd_op_each){(p).list, {(p).h, (p).w}, #list, {#h, #w}})
#define MSD_OP_EACH_HW(p, h, w)                                                        \
	((struct msd_op_each){{NULL, 0}, {(p).h, (p).w}, NULL, {#h, #w}})
#define MSD_OP_EACH_LIST(p, list)                                                      \
	((struct msd_op_each){(p).list, {0, 0}, #list, {NULL, NULL}})

/* The padding: a list of all starts and all ends, or if there are two axes, fields. */
struct msd_op_padding {
	struct msd_ints list;
	int64_t before[2];
	int64_t after[2];
};
#define MSD_OP_PADDING(p, list)                                                        \
	((struct msd_op_padding){                                                      \
		list, {(p).pad_h0, (p).pad_w0}, {(p).pad_h1, (p).pad_w1}})

/* The parameters that all convolutions have. */
struct msd_op_conv {
	struct msd_op_each kernel;
	struct msd_op_each stride;
	struct msd_op_each dilation;
	struct msd_op_padding padding;
	int64_t group;
};
struct msd_op_conv msd_op_conv_of(const modser_sg_node *node);

/** The value for axis @i of @n; @otherwise if a list is empty. */
static inline int64_t msd_op_each_at(const struct msd_op_each *e, size_t i, size_t n,
				     int64_t otherwise)
{
	if (n == 2 && e->hw_names[i] != NULL)
		return e->hw[i];
	return msd_ints_at(e->list, i, otherwise);
}
/** The padding before and after axis @i. */
void msd_op_padding_at(const struct msd_op_padding *p, size_t i, size_t n,
		       struct msd_op_window *ret);
/** The number of spatial axes: the axes of input 0 minus two, 1 to 3. */
MSD_MUST_CHECK int msd_op_window_axes(const modser_sg_node *node, size_t *ret);
/**
 * Check that every value of @e is in the range, and that its list is empty or has the
 * right length.
 */
MSD_MUST_CHECK int msd_op_each_check(const modser_sg_node *node,
				     const struct msd_op_each *e, size_t n, int64_t min,
				     int64_t max);
MSD_MUST_CHECK int msd_op_padding_check(const modser_sg_node *node,
					const struct msd_op_padding *p, size_t n,
					int64_t min);

#endif
