#ifndef MSD_GRAPH_OP_SLICE_H
#define MSD_GRAPH_OP_SLICE_H
#include "graph/modser_graph.h"

/** Where on its axis the first piece of a Slice begins; sound after inference alone. */
int64_t msd_op_slice_begin(const modser_sg_node *node);

#endif
