#ifndef MSD_RUNTIME_ENGINE_SHAPES_H
#define MSD_RUNTIME_ENGINE_SHAPES_H
/* Cache of inference results for the last sets of input shapes of a graph: the shape
 * and the location of each tensor. A run with cached shapes infers nothing. */
#include "graph/layout/memory_plan.h"
#include "proto/base/diag.h"

#define MSD_SHAPES_KEPT 8u

struct msd_shapes_row {
	int64_t *dims; /* dims of all tensors, concatenated; NULL: the row is free */
	int *ndims;
	struct msd_layout layout; /* offsets only */
	uint64_t used;            /* time of last use: the smallest is evicted */
};

struct msd_shapes {
	struct msd_shapes_row rows[MSD_SHAPES_KEPT];
	uint64_t clock;
};

/**
 * Find the row for the current input shapes of @g and set the shapes of its tensors
 * from it. NULL if there is none.
 */
const struct msd_layout *msd_shapes_find(struct msd_shapes *s, const modser_graph *g);
/**
 * Cache the current shapes of the tensors of @g, all known, with a memory plan for
 * them. Evicts the least recently used row.
 */
MSD_MUST_CHECK msd_err msd_shapes_keep(struct msd_shapes *s, const modser_graph *g,
				       const size_t *order,
				       const struct msd_layout **ret,
				       struct msd_diag *d);
void msd_shapes_finish(struct msd_shapes *s);

#endif
