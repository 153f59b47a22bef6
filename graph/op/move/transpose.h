#ifndef MSD_GRAPH_OP_TRANSPOSE_H
#define MSD_GRAPH_OP_TRANSPOSE_H
/* The order of a Transpose's axes. */
#include <stddef.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

/** For each axis of the output, the axis of input 0. */
MSD_MUST_CHECK int msd_op_transpose_order(const modser_sg_node *node,
					  size_t ret[static MODSER_GRAPH_MAX_NDIM]);

#endif
