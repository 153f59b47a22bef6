#ifndef MSD_GRAPH_IR_SHAPES_H
#define MSD_GRAPH_IR_SHAPES_H
/* The shapes of a graph and its subgraphs, kept while an inference changes them. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

struct msd_sg_shapes {
	struct msd_sg_shape *items;
	size_t n;
};

/** Keep the shapes and dtypes of @g. False: memory is short, and *@ret is empty. */
MSD_MUST_CHECK bool msd_sg_shapes_keep(const modser_graph *g,
				       struct msd_sg_shapes *ret);
/** Give all tensors the kept ones again, and forget them. */
void msd_sg_shapes_restore(struct msd_sg_shapes *s);

#endif
