#ifndef MSD_GRAPH_OP_PRIOR_BOX_H
#define MSD_GRAPH_OP_PRIOR_BOX_H
#include "graph/modser_graph.h"
#include "graph/op/params.h"

/* The boxes that a PriorBox makes; its inputs' shapes are known. */
struct msd_op_priors {
	struct msd_floats min_sizes;
	struct msd_floats max_sizes; /* none, or one for each of min_sizes */
	struct msd_floats ratios;
	struct msd_floats variances;
	bool flips; /* each ratio and its inverse */
	bool clips;
	int64_t rows; /* feature map */
	int64_t columns;
	double image_h;
	double image_w;
	double step_h;
	double step_w;
	double offset;
};

/** Read the parameters and shapes of @node, which must be inferred; borrowed. */
void msd_op_priors_of(const modser_sg_node *node, struct msd_op_priors *ret);

/** Write @n numbers of boxes, then @n variances; @n is extent 2 of the output. */
void msd_op_priors_fill(const struct msd_op_priors *p, size_t n, float *ret);

#endif
