#ifndef MSD_GRAPH_OP_ATTENTION_H
#define MSD_GRAPH_OP_ATTENTION_H
/* The extents of an Attention, for its inference and its kernel. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

enum {
	MSD_ATTENTION_Q,
	MSD_ATTENTION_K,
	MSD_ATTENTION_V,
	MSD_ATTENTION_MASK,
	MSD_ATTENTION_PAST_K,
	MSD_ATTENTION_PAST_V,
	MSD_ATTENTION_LENGTHS /* keys of each batch entry */
};

struct msd_op_attention {
	int64_t batch;
	int64_t q_heads, kv_heads;
	int64_t q_length;
	int64_t kv_length; /* without the past */
	int64_t past;
	int64_t head;   /* elements of a query and of a key */
	int64_t v_head; /* elements of a value */
	bool is_packed; /* [batch, length, heads * head], not [batch, heads, ...] */
};

/** Read and check the extents of the inputs. 0, or -1 with the error. */
MSD_MUST_CHECK int msd_op_attention_of(const modser_sg_node *node,
				       struct msd_op_attention *ret);

#endif
