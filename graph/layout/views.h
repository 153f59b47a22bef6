#ifndef MSD_GRAPH_LAYOUT_VIEWS_H
#define MSD_GRAPH_LAYOUT_VIEWS_H
/*
 * Views: tensors that lie within another one, so that the node between them has nothing
 * to copy. Also tensors that an elementwise node writes onto its input, which nothing
 * reads any more. A root is a tensor that lies in no other one.
 *
 * A graph's input or constant is only read, so it is a root of nothing that a node
 * writes. An output of the graph that no node reads may get the caller's memory, which
 * others share: tensors within it are written by one node, and read by none.
 */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_view {
	size_t root;   /* the index of a tensor: the same one if it is no view */
	size_t offset; /* bytes from the start of the root */
};

struct msd_views {
	struct msd_view *list; /* by tensor */
	bool *is_view;         /* by node: it has nothing to do */
	size_t *last;          /* by root: the last step that reads a tensor in it */
};

/**
 * Find the views of @g, all of whose shapes are known, for a run in @order. @last: by
 * tensor, from msd_memory_plan_find_last_reads(). @is_foreign: by node; true: no kernel
 * of ours computes it, so its tensors are aligned, and it neither writes onto its input
 * nor becomes a view. NULL: none is. Finish @v in any case.
 */
MSD_MUST_CHECK msd_err msd_views_init(struct msd_views *v, const modser_graph *g,
				      const size_t *order, const size_t *last,
				      const bool *is_foreign, struct msd_diag *d);
void msd_views_finish(struct msd_views *v);
/**
 * True if all kernels of ours for the operator of @node may write output 0 onto any
 * input of its dtype and shape: each element depends on the elements of the inputs at
 * its own place, and is written after these are read.
 */
MSD_MUST_CHECK bool msd_views_may_overwrite(const modser_sg_node *node);

#endif
