#ifndef MSD_GRAPH_OP_LINEAR_ATTENTION_H
#define MSD_GRAPH_OP_LINEAR_ATTENTION_H
/* The extents of a LinearAttention, for its inference and its kernel. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

enum {
	MSD_LINEAR_Q,
	MSD_LINEAR_K,
	MSD_LINEAR_V,
	MSD_LINEAR_STATE,
	MSD_LINEAR_DECAY,
	MSD_LINEAR_BETA
};

struct msd_op_linear_attention {
	int64_t batch, length;
	int64_t q_heads, kv_heads;
	int64_t key, value;  /* elements of a key and of a value */
	bool is_gated;       /* the state decays */
	bool is_delta;       /* subtract the state's value for the key */
	bool decays_by_key;  /* one decay for each element of a key */
	bool has_many_betas; /* one for each head */
};

/** Read and check the extents of the inputs. 0, or -1 with the error. */
MSD_MUST_CHECK int msd_op_linear_attention_of(const modser_sg_node *node,
					      struct msd_op_linear_attention *ret);

#endif
