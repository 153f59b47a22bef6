#ifndef MSD_GRAPH_IR_ORDER_H
#define MSD_GRAPH_IR_ORDER_H
/* The nodes so that each comes behind those whose outputs it reads. */
#include "graph/modser_graph.h"
#include "proto/err.h"

/**
 * Write the order into @ret, which has room for all nodes. Nodes that do not depend on
 * each other keep the order of their indices as far as that is possible. Returns 0, or
 * -1 with the graph's error: a circle, named by a node on it, or no memory.
 */
MSD_MUST_CHECK int msd_sg_order(modser_graph *g, size_t *ret);

#endif
