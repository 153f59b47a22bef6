#ifndef MSD_GRAPH_LAYOUT_IN_PLACE_H
#define MSD_GRAPH_LAYOUT_IN_PLACE_H
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/**
 * True if all kernels of ours for the operator of @node may write output 0 onto any
 * input of its dtype and shape: each element depends on the elements of the inputs at
 * its own place, and is written after these are read.
 */
MSD_MUST_CHECK bool msd_op_runs_in_place(const modser_sg_node *node);

#endif
