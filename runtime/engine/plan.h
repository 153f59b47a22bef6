#ifndef MSD_RUNTIME_ENGINE_PLAN_H
#define MSD_RUNTIME_ENGINE_PLAN_H
/*
 * A graph made ready to run by the reference kernels: the order of its nodes, and one
 * arena in which each tensor has a place from the node that makes it to the last that
 * reads it. Constants stay where the graph has them. One run at a time.
 */
#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_plan;

/**
 * Infer the shapes of @graph, which outlives the plan, and lay it out. Errors:
 * MSD_BAD_ARTIFACT (shapes that do not fit), MSD_UNSUPPORTED (an operator without a
 * kernel, other elements than float32), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret,
				       struct msd_diag *d);
/** Compute @outputs from @inputs: the graph's, in its order, with its shapes. */
MSD_MUST_CHECK msd_err msd_plan_run(struct msd_plan *plan, const float *const *inputs,
				    float *const *outputs, struct msd_diag *d);
/** Bytes of the arena. */
size_t msd_plan_arena_bytes(const struct msd_plan *plan);
void msd_plan_destroy(struct msd_plan *plan); /* NULL is fine */

#endif
