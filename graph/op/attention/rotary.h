#ifndef MSD_GRAPH_OP_ROTARY_H
#define MSD_GRAPH_OP_ROTARY_H
/* The extents of a RotaryEmbedding, for its inference and its kernel. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

enum { MSD_ROTARY_X, MSD_ROTARY_COS, MSD_ROTARY_SIN, MSD_ROTARY_PLACES };

struct msd_op_rotary {
	int64_t batch, heads, length, size;
	int64_t rotated; /* first elements of a head that are rotated, even */
	bool is_packed;  /* [batch, length, heads * size], not [batch, heads, ...] */
};

/** Read and check the extents of the inputs. 0, or -1 with the error. */
MSD_MUST_CHECK int msd_op_rotary_of(const modser_sg_node *node,
				    struct msd_op_rotary *ret);

#endif
