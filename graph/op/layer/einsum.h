#ifndef MSD_GRAPH_OP_EINSUM_H
#define MSD_GRAPH_OP_EINSUM_H
/* An equation of Einsum, such as "bij,bjk->bik", as axes that all tensors share:
 * first the output's, then the summed ones. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

#define MSD_EINSUM_INPUTS 2u
/* 52 letters, and the axes of an ellipsis. */
#define MSD_EINSUM_AXES (52u + MODSER_GRAPH_MAX_NDIM)

struct msd_op_einsum {
	size_t n_axes;
	size_t n_out; /* axes of the output */
	int64_t extents[MSD_EINSUM_AXES];
	/* Elements from one position of an axis to the next; 0: the input lacks the
	 * axis, or broadcasts it. */
	int64_t steps[MSD_EINSUM_INPUTS][MSD_EINSUM_AXES];
};

/** Read the equation of @node; the extents of its inputs are known. */
MSD_MUST_CHECK int msd_op_einsum_read(const modser_sg_node *node,
				      struct msd_op_einsum *ret);

#endif
