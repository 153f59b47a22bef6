#ifndef MSD_GRAPH_PASS_LINKS_H
#define MSD_GRAPH_PASS_LINKS_H
/* The readers of each tensor, as they were when a pass began. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/pass/pass.h"

/* The readers of a tensor; an output of the graph counts as one more. */
struct msd_readers {
	size_t n;
	modser_sg_node *first[2]; /* NULL for an output of the graph */
};

struct msd_links {
	struct msd_readers *readers; /* by tensor */
	size_t n;                    /* later tensors have no readers here */
};

/**
 * Find the readers in the graph of @job; -1 with its error: memory is short. Finish @l
 * in any case.
 */
MSD_MUST_CHECK int msd_links_init(struct msd_links *l, const struct msd_pass_job *job);
void msd_links_finish(struct msd_links *l);
/** The node that alone reads @t; NULL: there are more, it is an output, or it is newer
 * than @l. */
modser_sg_node *msd_links_only(const struct msd_links *l, const modser_sg_tensor *t);
/** True if @node exists and has the operator @name. */
static inline bool msd_links_is_op(const modser_sg_node *node, const char *name)
{
	return node != NULL && node->op != NULL &&
	       strcmp(node->op->schema->name, name) == 0;
}

#endif
