#ifndef MSD_RUNTIME_ENGINE_PLAN_H
#define MSD_RUNTIME_ENGINE_PLAN_H
/*
 * A graph prepared to run with the reference kernels: the order of its nodes, and the
 * location of each tensor. Constants stay in the graph.
 *
 * If all shapes are known, one arena has a range for each tensor, from the node that
 * makes it to the last that reads it. If extents of inputs are unknown, this is
 * planned in the first run with such extents, and cached for the last MSD_SHAPES_KEPT
 * sets. If a shape depends on computed values, each run infers shapes node by node,
 * and each tensor has separate memory. One run at a time.
 */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"

struct msd_plan;

/**
 * Infer the shapes of @graph, which must outlive the plan, and plan its memory.
 * Errors: MSD_BAD_ARTIFACT (shapes that do not fit), MSD_UNSUPPORTED (an operator
 * without a kernel, elements that its kernel does not read), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret,
				       struct msd_diag *d);
/**
 * The same for a graph within a node. Its shapes are known only during a run: set
 * those of its inputs before each run.
 */
MSD_MUST_CHECK msd_err msd_plan_create_within(modser_graph *graph,
					      struct msd_plan **ret,
					      struct msd_diag *d);
/**
 * Run with @inputs, in the graph's order, with the current shapes of its input
 * tensors. The graph's output tensors get the output shapes.
 */
MSD_MUST_CHECK msd_err msd_plan_run(struct msd_plan *plan, const void *const *inputs,
				    struct msd_diag *d);
/**
 * The bytes of output @i of the last run, valid until the next one. If the output is
 * an input, they are the caller's.
 */
const void *msd_plan_output(const struct msd_plan *plan, size_t i);
/** Size of the arena in bytes; 0 if there is no arena (yet). */
size_t msd_plan_arena_bytes(const struct msd_plan *plan);
void msd_plan_destroy(struct msd_plan *plan); /* NULL is fine */

#endif
