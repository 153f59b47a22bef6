#ifndef MSD_GRAPH_OP_FLOW_H
#define MSD_GRAPH_OP_FLOW_H
/*
 * If, Loop and Scan: nodes that run graphs of their own, which are attributes of their
 * operators. Such a graph reads nothing of the graph around it: what ONNX lets it
 * capture are further inputs, of the node and, in the same order, behind the graph's
 * own.
 *
 * If: the condition; inputs of `then_branch`; inputs of `else_branch`.
 * Loop: how often, or none; whether to begin, or none; then the inputs of `body` from
 * its third on: values that go from turn to turn, and captured ones.
 * Scan: the inputs of `body`: values that go from turn to turn, tensors that are cut
 * into slices, and captured ones.
 */
#include "graph/modser_graph.h"
#include "proto/err.h"

#define MSD_FLOW_GRAPHS 2u /* that a node has at most */

/** Number @i of the graphs of @node; NULL: it has fewer, or lacks it. */
modser_graph *msd_flow_graph(const modser_sg_node *node, size_t i);
/** Values that go from turn to turn of a Loop or Scan that holds together. */
size_t msd_flow_states(const modser_sg_node *node);
/** Are the graphs there, and do their inputs and outputs go with the node's? -1 with
 * the error of the node's graph. */
MSD_MUST_CHECK int msd_flow_check(const modser_sg_node *node);

#endif
