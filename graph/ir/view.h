#ifndef MSD_GRAPH_IR_VIEW_H
#define MSD_GRAPH_IR_VIEW_H
/* A view of a graph: a run gives its tensors shapes, dtypes and values, and the graph
 * stays as it is. */
#include "graph/modser_graph.h"

/**
 * Copy the nodes of @g and its tensors that are not constants, with their current
 * shapes. Operators, constants and names are those of @g, which must outlive the view
 * and stay unchanged. NULL: memory is short.
 */
modser_graph *msd_sg_view_create(const modser_graph *g);
void msd_sg_view_destroy(modser_graph *view); /* NULL is fine */

#endif
