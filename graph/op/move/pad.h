#ifndef MSD_GRAPH_OP_PAD_H
#define MSD_GRAPH_OP_PAD_H
/* The amounts of padding of a Pad. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

enum msd_op_pad_mode { MSD_PAD_CONSTANT, MSD_PAD_EDGE, MSD_PAD_REFLECT, MSD_PAD_WRAP };

struct msd_op_pads {
	int64_t before[MODSER_GRAPH_MAX_NDIM]; /* negative: removed */
	int64_t after[MODSER_GRAPH_MAX_NDIM];
};

/** From inputs 1 and 3, or Tengine's fields. Returns 0, -1 or MSD_INFER_LATER. */
MSD_MUST_CHECK int msd_op_pad_amounts(const modser_sg_node *node,
				      struct msd_op_pads *ret);

#endif
