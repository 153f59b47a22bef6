#ifndef MSD_GRAPH_OP_FUSED_ATTENTION_H
#define MSD_GRAPH_OP_FUSED_ATTENTION_H
/*
 * The operator that the pass `attention` makes of a formula:
 *
 *   scores = scale * factors * (queries x keys), each transposed before
 *   scores = flags ? scores : fill, or the other way round
 *   result = softmax(scores + mask) x values, transposed then
 *
 * with numpy's broadcasting at each step.
 */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

#define MSD_FUSED_ATTENTION "FusedAttention"

/* Its inputs. The factors have one element each. */
enum {
	MSD_FUSED_ATTENTION_Q,
	MSD_FUSED_ATTENTION_K,
	MSD_FUSED_ATTENTION_V,
	MSD_FUSED_ATTENTION_MASK,
	MSD_FUSED_ATTENTION_FLAGS,
	MSD_FUSED_ATTENTION_STEPPED, /* so many have steps */
	MSD_FUSED_ATTENTION_FACTORS = MSD_FUSED_ATTENTION_STEPPED,
	MSD_FUSED_ATTENTION_INPUTS = MSD_FUSED_ATTENTION_FACTORS + 2
};

/* Its extents. Steps are those of the transposed tensors, stretched to ndim axes: 0
 * where they are broadcast. The last axes are rows and columns of matrices. */
struct msd_fused_attention {
	size_t ndim;
	int64_t heads[MODSER_GRAPH_MAX_NDIM]; /* ndim - 2 of them */
	int64_t queries, keys, size, v_size;
	int64_t steps[MSD_FUSED_ATTENTION_STEPPED][MODSER_GRAPH_MAX_NDIM];
	int64_t y_dims[MODSER_GRAPH_MAX_NDIM];
	int64_t y_steps[MODSER_GRAPH_MAX_NDIM]; /* before it is transposed */
};

/** Read and check the extents of the inputs. 0, or -1 with the error. */
MSD_MUST_CHECK int msd_op_fused_attention_of(const modser_sg_node *node,
					     struct msd_fused_attention *ret);

#endif
