#ifndef MSD_GRAPH_LAYOUT_LAYOUT_H
#define MSD_GRAPH_LAYOUT_LAYOUT_H
/* Where the tensors that a graph's kernels make are while it runs: each has a place in
 * one arena from the node that makes it to the last that reads it. */
#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_arena_place;
struct msd_layout {
	struct msd_arena_place *places; /* of each tensor */
	size_t *live;                   /* what the arena works with */
	uint8_t *arena;                 /* NULL: it was not made */
	size_t arena_bytes;
};

/** For a graph of @n_tensors. Finish @l in any case. */
MSD_MUST_CHECK msd_err msd_layout_init(struct msd_layout *l, size_t n_tensors,
				       struct msd_diag *d);
void msd_layout_finish(struct msd_layout *l);
/** At which step of @order each tensor is read last; MSD_ARENA_KEEP for outputs. */
void msd_layout_find_last_reads(struct msd_layout *l, const modser_graph *g,
				const size_t *order);
/** Give each tensor its place; all shapes are known, and its last read. */
MSD_MUST_CHECK msd_err msd_layout_put(struct msd_layout *l, const modser_graph *g,
				      const size_t *order, struct msd_diag *d);
/** Have an arena of @bytes at least; what was in a smaller one is gone. */
MSD_MUST_CHECK msd_err msd_layout_make(struct msd_layout *l, size_t bytes,
				       struct msd_diag *d);
/** Bytes that @t takes, whose shape is known. */
size_t msd_layout_room(const modser_sg_tensor *t);

#endif
