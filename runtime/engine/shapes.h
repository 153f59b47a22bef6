#ifndef MSD_RUNTIME_ENGINE_SHAPES_H
#define MSD_RUNTIME_ENGINE_SHAPES_H
/* What inference found for the last sets of shapes that a graph's inputs had: the shape
 * of each tensor, and its place. A run of such shapes infers nothing. */
#include "graph/layout/layout.h"
#include "proto/diag.h"

#define MSD_SHAPES_KEPT 8u

struct msd_shapes_row {
	int64_t *dims; /* of all tensors, one after the other; NULL: the row is free */
	int *ndims;
	struct msd_layout layout; /* places alone */
	uint64_t used;            /* when: the smallest goes first */
};

struct msd_shapes {
	struct msd_shapes_row rows[MSD_SHAPES_KEPT];
	uint64_t clock;
};

/** The row for the shapes that the inputs of @g have now, whose tensors get the shapes
 * of it. NULL: none. */
const struct msd_layout *msd_shapes_find(struct msd_shapes *s, const modser_graph *g);
/** Keep the shapes that the tensors of @g have now, all known, and places for them, in
 * the room of those that were used longest ago. */
MSD_MUST_CHECK msd_err msd_shapes_keep(struct msd_shapes *s, const modser_graph *g,
				       const size_t *order,
				       const struct msd_layout **ret,
				       struct msd_diag *d);
void msd_shapes_finish(struct msd_shapes *s);

#endif
