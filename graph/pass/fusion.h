#ifndef MSD_GRAPH_PASS_FUSION_H
#define MSD_GRAPH_PASS_FUSION_H
/* The readers and shapes of tensors, for passes that merge nodes. */
#include "graph/modser_graph.h"
#include "graph/pass/known.h"
#include "graph/pass/links.h"

struct msd_fusion {
	const struct msd_pass_job *job;
	struct msd_known known;
	struct msd_links links;
};

/** -1 with the graph's error: memory is short. Finish @f in any case. */
MSD_MUST_CHECK int msd_fusion_init(struct msd_fusion *f,
				   const struct msd_pass_job *job);
void msd_fusion_finish(struct msd_fusion *f);
/** True if @t is a float32 constant. */
bool msd_fusion_is_single(const modser_sg_tensor *t);
/** True if @t is such a constant of one element, which is *@ret. */
bool msd_fusion_scalar(const modser_sg_tensor *t, float *ret);
/** True if both have one known shape and dtype in every run. */
bool msd_fusion_is_same_shape(const struct msd_fusion *f, const modser_sg_tensor *a,
			      const modser_sg_tensor *b);
/** Input @i of @node, which has two, if the other one is @t; NULL: it is not. */
modser_sg_tensor *msd_fusion_beside(const modser_sg_node *node,
				    const modser_sg_tensor *t);
/**
 * Replace the @n nodes of a formula by one: the last one becomes @op with the inputs
 * @in, whose last ones may be NULL; the others are removed. NULL as @op, or -1: memory
 * is short.
 */
MSD_MUST_CHECK int msd_fusion_become(modser_sg_node *const *nodes, size_t n,
				     modser_sg_op *op, modser_sg_tensor *const *in,
				     size_t n_in);

#endif
