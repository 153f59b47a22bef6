#ifndef MSD_RUNTIME_PLAN_PROGRAM_H
#define MSD_RUNTIME_PLAN_PROGRAM_H
/* The part of a plan that no shape changes: the order of the nodes, and the engines
 * that claimed them. */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_flow;

/* A constant in a layout of an engine. */
struct msd_reordered {
	struct msd_reordered *next;
	const modserd_layout *layout;
	size_t tensor; /* its index */
	size_t bytes;
	void *p;
};

struct msd_graph_program {
	modser_graph *g;
	size_t *order;                 /* of all nodes */
	struct msd_claim *claims;      /* by node: its engines */
	struct msd_flow *const *flows; /* by node: its graphs, else NULL */
	size_t *last;                  /* by tensor: the step that reads it last */
	/* By tensor: the output whose memory the caller may make, else SIZE_MAX. Only
	 * the kernel that writes such a tensor uses it: a client shares that memory and
	 * could change it between the check and the use by another kernel. */
	size_t *output_of;
	struct msd_reordered *reordered; /* reorder.h adds them */
	size_t most_ends;                /* inputs or outputs of a node, at least 1 */
	bool is_within; /* a graph within a node: its inputs are known in a run */
};

/**
 * Order the nodes of @g, infer them as far as shapes are known, and let engines claim
 * them. @flows are those of the nodes, borrowed. *@ret_is_open: some shape is known
 * only in a run. Finish @p in any case.
 */
MSD_MUST_CHECK msd_err msd_graph_program_init(struct msd_graph_program *p,
					      modser_graph *g,
					      struct msd_flow *const *flows,
					      bool is_within, bool *ret_is_open,
					      struct msd_diag *d);
void msd_graph_program_finish(struct msd_graph_program *p);
/**
 * Infer @view, a view of the graph with known inputs. *@ret_is_open: a shape depends on
 * a value.
 */
MSD_MUST_CHECK msd_err msd_graph_program_infer(const struct msd_graph_program *p,
					       modser_graph *view, bool *ret_is_open,
					       struct msd_diag *d);

#endif
