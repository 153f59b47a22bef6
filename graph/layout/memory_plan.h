#ifndef MSD_GRAPH_LAYOUT_MEMORY_PLAN_H
#define MSD_GRAPH_LAYOUT_MEMORY_PLAN_H
/* The memory plan of the tensors that a graph's kernels produce in a run. Each has an
 * offset in one arena from its producer to its last reader. */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_arena_place;
struct msd_layout {
	struct msd_arena_place *places; /* one for each tensor */
	size_t *live;                   /* scratch memory of the arena */
	uint8_t *arena;                 /* NULL: not allocated */
	size_t arena_bytes;
};

/** Initialize for a graph of @n_tensors. Finish @l in any case. */
MSD_MUST_CHECK msd_err msd_layout_init(struct msd_layout *l, size_t n_tensors,
				       struct msd_diag *d);
void msd_layout_finish(struct msd_layout *l);
/** Find the step of @order that reads each tensor last; MSD_ARENA_KEEP for outputs. */
void msd_layout_find_last_reads(struct msd_layout *l, const modser_graph *g,
				const size_t *order);
/** Assign each tensor its offset; all shapes and last reads are known. */
MSD_MUST_CHECK msd_err msd_layout_put(struct msd_layout *l, const modser_graph *g,
				      const size_t *order, struct msd_diag *d);
/** Allocate an arena of at least @bytes; the contents of a smaller one are lost. */
MSD_MUST_CHECK msd_err msd_layout_make(struct msd_layout *l, size_t bytes,
				       struct msd_diag *d);
/** Bytes that @t takes; its shape is known. */
size_t msd_layout_room(const modser_sg_tensor *t);

#endif
