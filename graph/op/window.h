#ifndef MSD_GRAPH_OP_WINDOW_H
#define MSD_GRAPH_OP_WINDOW_H
/* Windows that walk over an axis: of convolutions and poolings. */
#include "graph/modser_graph.h"

struct msd_op_window {
	int64_t kernel;
	int64_t stride;
	int64_t dilation;
	int64_t before; /* padding */
	int64_t after;
	int64_t out; /* places */
};

/** Those of a Convolution over the heights and the widths of its input 0. Sound after
 * inference alone. */
void msd_op_conv_windows(const modser_sg_node *node, struct msd_op_window *ret_h,
			 struct msd_op_window *ret_w);
/** The same of a Pooling. */
void msd_op_pool_windows(const modser_sg_node *node, struct msd_op_window *ret_h,
			 struct msd_op_window *ret_w);

#endif
