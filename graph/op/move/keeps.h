#ifndef MSD_GRAPH_OP_KEEPS_H
#define MSD_GRAPH_OP_KEEPS_H
/* Operators that may return the bytes of their first input, in the same order. */
#include <stdbool.h>

#include "graph/modser_graph.h"

struct msd_op_keeping {
	const char *op;
	/* It keeps the bytes only if output 0 has the dtype and the number of elements
	 * of input 0. */
	bool needs_shapes;
	bool (*keeps)(const modser_sg_node *node); /* and only if this is true */
};

/** The row of the operator of @node; NULL: it has none. */
const struct msd_op_keeping *msd_op_keeping_of(const modser_sg_node *node);

#endif
