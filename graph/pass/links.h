#ifndef MSD_GRAPH_PASS_LINKS_H
#define MSD_GRAPH_PASS_LINKS_H
/* The readers of each tensor, as they were when a pass began. */
#include "graph/pass/pass.h"

struct msd_links {
	size_t *reads;          /* by tensor; an output of the graph is one more */
	modser_sg_node **first; /* a reader; NULL: none, or an output of the graph */
};

/**
 * Find the readers in the graph of @job; -1 with its error: memory is short. Finish @l
 * in any case.
 */
MSD_MUST_CHECK int msd_links_init(struct msd_links *l, const struct msd_pass_job *job);
void msd_links_finish(struct msd_links *l);
/** The node that reads @t, if nothing else does; else NULL. */
modser_sg_node *msd_links_only(const struct msd_links *l, const modser_sg_tensor *t);

#endif
