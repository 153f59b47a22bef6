#ifndef MSD_GRAPH_OP_SCATTER_H
#define MSD_GRAPH_OP_SCATTER_H
/* How an update is combined with the old value. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

enum msd_op_scatter {
	MSD_SCATTER_NONE, /* replaces it */
	MSD_SCATTER_ADD,
	MSD_SCATTER_MUL,
	MSD_SCATTER_MAX,
	MSD_SCATTER_MIN
};

MSD_MUST_CHECK int msd_op_scatter_how(const modser_sg_node *node, const char *how,
				      enum msd_op_scatter *ret);

#endif
