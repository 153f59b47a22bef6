#ifndef MSD_GRAPH_OP_RESIZE_H
#define MSD_GRAPH_OP_RESIZE_H
/* The scale of each axis of a Resize. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_op_scale {
	double scale;
	int64_t out;
	size_t place; /* index in the lists of scales and regions; SIZE_MAX: none */
};

/** From input 2 or 3. Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int
msd_op_resize_scales(const modser_sg_node *node,
		     struct msd_op_scale ret[static MODSER_GRAPH_MAX_NDIM]);

#endif
