#ifndef MSD_GRAPH_OP_UNIQUE_H
#define MSD_GRAPH_OP_UNIQUE_H
/* Group equal slices of a tensor along one axis, or its equal elements. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_op_unique {
	size_t n;        /* slices */
	size_t n_unique; /* different ones */
	size_t *group;   /* group of each slice */
	size_t *first;   /* first slice of each group */
	size_t *count;   /* size of each group */
};

/**
 * Group input 0 of a Unique, whose bytes are @x, in the order that the node requests.
 * False: memory is short. Finish *@ret in any case.
 */
MSD_MUST_CHECK bool msd_op_unique_find(const modser_sg_node *node, const void *x,
				       struct msd_op_unique *ret);
void msd_op_unique_finish(struct msd_op_unique *u);

/** True if a Unique has no axis: elements are compared, whatever the shape. */
bool msd_op_unique_is_flat(const modser_sg_node *node);

#endif
