#ifndef MSD_GRAPH_OP_WINDOW_H
#define MSD_GRAPH_OP_WINDOW_H
/*
 * Windows that walk over axes: of convolutions and poolings. There are always three
 * axes, depth, height and width; those that a tensor lacks have the extent 1. The
 * parameters of two axes are those that tmfiles have; those of one or three are lists.
 */
#include "graph/modser_graph.h"
#include "proto/err.h"

#define MSD_OP_AXES 3u

struct msd_op_window {
	int64_t in;
	int64_t kernel;
	int64_t stride;
	int64_t dilation;
	int64_t before; /* padding */
	int64_t after;
	int64_t out; /* places */
};

/** From the first to the last element that one window looks at. */
int64_t msd_op_window_reach(const struct msd_op_window *w);

/** Which input of a convolution, quantized or not, its kernels are. */
size_t msd_op_conv_weights(const modser_sg_node *node);
/** Check a convolution's parameters and inputs but for their elements; @bias is the
 * input that would be added. Sets output 0's extents. */
MSD_MUST_CHECK int msd_op_conv_infer(const modser_sg_node *node, size_t bias);
/** Those of a convolution, a Pooling and a Deconvolution, whose `in` and `out` are
 * theirs, too. Sound after inference alone. */
void msd_op_conv_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES]);
void msd_op_pool_windows(const modser_sg_node *node,
			 struct msd_op_window ret[static MSD_OP_AXES]);
void msd_op_deconv_windows(const modser_sg_node *node,
			   struct msd_op_window ret[static MSD_OP_AXES]);

/* Which parameters say what: a list, and the fields for height and width. */
struct msd_op_window_names {
	const char *list;
	const char *hw[2];
};

/** The value for axis @i of the @n that there are; @otherwise where a list is empty. */
int64_t msd_op_window_param(const modser_sg_node *node,
			    const struct msd_op_window_names *names, size_t i, size_t n,
			    int64_t otherwise);
/** The padding before and behind axis @i. */
void msd_op_window_pads(const modser_sg_node *node, size_t i, size_t n,
			struct msd_op_window *ret);
/** The number of axes: those of input 0 but two, 1 to 3. */
MSD_MUST_CHECK int msd_op_window_axes(const modser_sg_node *node, size_t *ret);
/** Every value of @names is in the range, and its list empty or as long as it must be.
 */
MSD_MUST_CHECK int msd_op_window_check(const modser_sg_node *node,
				       const struct msd_op_window_names *names,
				       size_t n, int64_t min, int64_t max);
MSD_MUST_CHECK int msd_op_window_check_pads(const modser_sg_node *node, size_t n,
					    int64_t min);

#endif
