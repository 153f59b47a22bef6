#ifndef MSD_RUNTIME_ENGINE_SHAPES_H
#define MSD_RUNTIME_ENGINE_SHAPES_H
/* Cache of the entries of a plan for the last sets of input shapes. A run with cached
 * shapes infers nothing. */
#include "runtime/plan/entry.h"

#define MSD_SHAPES_KEPT 8u

struct msd_shapes {
	struct msd_entry entries[MSD_SHAPES_KEPT];
	uint64_t clock;
};

/** The entry for @inputs; NULL if there is none. */
struct msd_entry *msd_shapes_find(struct msd_shapes *s,
				  const struct msd_graph_program *p,
				  const struct msd_plan_input *inputs);
/**
 * Add an entry for @g, all of whose shapes are known; takes ownership of a view. Evicts
 * the least recently used entry.
 */
MSD_MUST_CHECK msd_err msd_shapes_add(struct msd_shapes *s, struct msd_graph_program *p,
				      modser_graph *g, struct msd_entry **ret,
				      struct msd_diag *d);
void msd_shapes_finish(struct msd_shapes *s);

#endif
