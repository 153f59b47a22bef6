#ifndef MSD_GRAPH_LAYOUT_MEMORY_PLAN_H
#define MSD_GRAPH_LAYOUT_MEMORY_PLAN_H
/* The memory plan of the tensors that a graph's kernels produce in a run. Each has an
 * offset in one arena from its producer to its last reader. */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_views;

struct msd_memory_plan {
	size_t *offsets; /* one for each tensor, then one for each block */
	size_t bytes;    /* of the arena */
};

/* Memory beside the tensors, from step @first to step @last of the order. */
struct msd_memory_block {
	size_t bytes;
	size_t first, last;
};

/* The needs of a run whose tensors are not all row-major. */
struct msd_memory_needs {
	const size_t *bytes;                   /* by tensor; 0: those of its rows */
	const struct msd_memory_block *blocks; /* sorted by `first` */
	size_t n_blocks;
};

/**
 * Find the step of @order that reads each tensor last, in @ret_last, one for each
 * tensor; MSD_ARENA_KEEP for outputs.
 */
void msd_memory_plan_find_last_reads(size_t *ret_last, const modser_graph *g,
				     const size_t *order);
/**
 * Assign each tensor its offset; all shapes are known. A view has that of its place in
 * its root. A root whose last step is MSD_ARENA_NOWHERE has no place. @needs may be
 * NULL. Finish @l in any case.
 */
MSD_MUST_CHECK msd_err msd_memory_plan_init(struct msd_memory_plan *l,
					    const modser_graph *g, const size_t *order,
					    const struct msd_views *v,
					    const struct msd_memory_needs *needs,
					    struct msd_diag *d);
void msd_memory_plan_finish(struct msd_memory_plan *l);
/** Bytes that @t takes; its shape is known. */
size_t msd_memory_plan_room(const modser_sg_tensor *t);

#endif
