#ifndef MSD_GRAPH_OP_REDUCE_H
#define MSD_GRAPH_OP_REDUCE_H
/* The axes that a reduction removes. */
#include <stdbool.h>

#include "graph/modser_graph.h"
#include "proto/base/err.h"

/* Kind of a Reduction, by tmfile number; 7 is not in tmfiles. */
enum msd_op_reduction {
	MSD_REDUCE_SUM,
	MSD_REDUCE_MEAN,
	MSD_REDUCE_L1,
	MSD_REDUCE_SQUARES,
	MSD_REDUCE_MAX,
	MSD_REDUCE_MIN,
	MSD_REDUCE_PROD,
	MSD_REDUCE_L2,
	MSD_REDUCE_LOG_SUM = 9,
	MSD_REDUCE_LOG_SUM_EXP
};

/**
 * Mark the axes of input 0 that a Reduction removes. Returns 0, -1 or
 * MSD_INFER_LATER.
 */
MSD_MUST_CHECK int msd_op_reduce_axes(const modser_sg_node *node,
				      bool ret[static MODSER_GRAPH_MAX_NDIM]);

#endif
