#ifndef MSD_RUNTIME_ENGINE_PLAN_H
#define MSD_RUNTIME_ENGINE_PLAN_H
/*
 * A graph made ready to run by the reference kernels: the order of its nodes, and where
 * each tensor lies. Constants stay where the graph has them.
 *
 * When all shapes are known, one arena has a place for each tensor, from the node that
 * makes it to the last that reads it. When extents of inputs are not known, the same is
 * found in the first run of such extents, and kept for the last MSD_SHAPES_KEPT. When a
 * shape depends on what is computed, shapes are inferred node by node in each run, and
 * each tensor has memory of its own. One run at a time.
 */
#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_plan;

/**
 * Infer the shapes of @graph, which outlives the plan, and lay it out. Errors:
 * MSD_BAD_ARTIFACT (shapes that do not fit), MSD_UNSUPPORTED (an operator without a
 * kernel, elements that its kernel does not read), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret,
				       struct msd_diag *d);
/** The same for a graph within a node, whose shapes are known in a run alone: those of
 * its inputs are set before each. */
MSD_MUST_CHECK msd_err msd_plan_create_within(modser_graph *graph,
					      struct msd_plan **ret,
					      struct msd_diag *d);
/** Compute from @inputs: the graph's, in its order, with the shapes that its input
 * tensors have now. The outputs' shapes are those of the graph's output tensors. */
MSD_MUST_CHECK msd_err msd_plan_run(struct msd_plan *plan, const void *const *inputs,
				    struct msd_diag *d);
/** The bytes of output @i of the last run, until the next one; those of an output that
 * is an input are the caller's. */
const void *msd_plan_output(const struct msd_plan *plan, size_t i);
/** Bytes of the arena; 0 when there is none, or none yet. */
size_t msd_plan_arena_bytes(const struct msd_plan *plan);
void msd_plan_destroy(struct msd_plan *plan); /* NULL is fine */

#endif
