#ifndef MSD_GRAPH_OP_FLOW_H
#define MSD_GRAPH_OP_FLOW_H
/*
 * If, Loop and Scan: nodes that run subgraphs, which are attributes of their
 * operators. A subgraph reads nothing of the graph around it. Tensors that ONNX lets
 * it capture become extra inputs of the node and, in the same order, of the subgraph,
 * after its own.
 *
 * If: the condition; inputs of `then_branch`; inputs of `else_branch`. Loop: the trip
 * count, optional; the initial condition, optional; then the inputs of `body` from
 * its third on: loop-carried values, and captured ones. Scan: the inputs of `body`:
 * carried values, tensors that are sliced, and captured ones.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

#define MSD_FLOW_GRAPHS 2u /* maximum of a node */

/** Subgraph @i of @node; NULL: it has fewer, or lacks it. */
modser_graph *msd_flow_graph(const modser_sg_node *node, size_t i);
/** Number of carried values of a consistent Loop or Scan. */
size_t msd_flow_states(const modser_sg_node *node);
/**
 * Check that the subgraphs exist and that their inputs and outputs match the node's.
 * -1 with the error of the node's graph.
 */
MSD_MUST_CHECK int msd_flow_check(const modser_sg_node *node);

#endif
