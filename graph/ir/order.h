#ifndef MSD_GRAPH_IR_ORDER_H
#define MSD_GRAPH_IR_ORDER_H
/* Order the nodes so that each follows the producers of its inputs. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/**
 * Write the order into @ret, which has room for all nodes. Independent nodes keep the
 * order of their indices as far as possible. Returns 0, or -1 with the graph's error:
 * a cycle, named by a node on it, or memory is short.
 */
MSD_MUST_CHECK int msd_sg_order(modser_graph *g, size_t *ret);

#endif
