#ifndef MSD_GRAPH_OP_EINSUM_H
#define MSD_GRAPH_OP_EINSUM_H
/*
 * An equation of Einsum, such as "bij,bjk->bik", as axes that all tensors walk along
 * together: the output's come first, then those that are summed.
 */
#include "graph/modser_graph.h"
#include "proto/err.h"

#define MSD_EINSUM_INPUTS 2u
/* 52 letters, and what an ellipsis stands for. */
#define MSD_EINSUM_AXES (52u + MODSER_GRAPH_MAX_NDIM)

struct msd_op_einsum {
	size_t n_axes;
	size_t n_out; /* of them the output's */
	int64_t extents[MSD_EINSUM_AXES];
	/* Elements from one place of an axis to the next; 0: it is not the input's, or
	 * stretched. */
	int64_t steps[MSD_EINSUM_INPUTS][MSD_EINSUM_AXES];
};

/** The equation of @node, whose inputs' extents are known. */
MSD_MUST_CHECK int msd_op_einsum_read(const modser_sg_node *node,
				      struct msd_op_einsum *ret);

#endif
