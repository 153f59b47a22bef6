#ifndef MSD_GRAPH_PASS_KNOWN_H
#define MSD_GRAPH_PASS_KNOWN_H
/*
 * Shapes and dtypes that hold in every run. They follow from constants and from
 * inputs with all extents known. Shapes that the file claims for other tensors do not
 * count.
 */
#include "graph/pass/pass.h"

struct msd_known {
	bool *tensors; /* by tensor index */
};

/**
 * Initialize for the graph of @job; -1 with its error: memory is short. Finish @k in
 * any case.
 */
MSD_MUST_CHECK int msd_known_init(struct msd_known *k, const struct msd_pass_job *job);
void msd_known_finish(struct msd_known *k);
/** Infer @node, the next in the job's order; true: all of its outputs are known. */
bool msd_known_infer(struct msd_known *k, const struct msd_pass_job *job,
		     modser_sg_node *node);

#endif
