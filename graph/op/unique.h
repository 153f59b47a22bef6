#ifndef MSD_GRAPH_OP_UNIQUE_H
#define MSD_GRAPH_OP_UNIQUE_H
/* Which slices of a tensor along one axis, or which of its elements, are alike. */
#include "graph/modser_graph.h"
#include "proto/err.h"

struct msd_op_unique {
	size_t n;        /* slices */
	size_t n_unique; /* different ones */
	size_t *group;   /* of each slice: which of the different ones it is */
	size_t *first;   /* of each different one: where it is first */
	size_t *count;   /* and how often */
};

/** Look at input 0 of a Unique, whose bytes are @x, in the order that the node wants.
 * False: memory is short. Finish *@ret in any case. */
MSD_MUST_CHECK bool msd_op_unique_find(const modser_sg_node *node, const void *x,
				       struct msd_op_unique *ret);
void msd_op_unique_finish(struct msd_op_unique *u);

/** A Unique that has no axis: elements are compared, whatever the shape. */
bool msd_op_unique_is_flat(const modser_sg_node *node);

#endif
