#ifndef MSD_RUNTIME_ENGINE_PLAN_H
#define MSD_RUNTIME_ENGINE_PLAN_H
/*
 * A graph prepared to run: the order of its nodes, and the engines that claimed them.
 * The graph stays as it is; constants are read from it. One run at a time.
 *
 * If all shapes are known, one entry (entry.h) has the steps of a run and the offset of
 * each tensor in one arena. If extents of inputs are unknown, the first run with such
 * extents makes an entry, and the last MSD_SHAPES_KEPT of them are cached. If a shape
 * depends on computed values, each run infers shapes node by node (dynamic.h).
 */
#include "graph/modser_graph.h"
#include "proto/base/diag.h"
#include "runtime/plan/args.h"

struct msd_plan;

/**
 * Infer the shapes of @graph, which must outlive the plan and stay unchanged, and plan
 * its memory. Errors: MSD_BAD_ARTIFACT (shapes that do not fit), MSD_UNSUPPORTED (an
 * operator without a kernel, elements that its kernel does not read), MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_plan_create(modser_graph *graph, struct msd_plan **ret,
				       struct msd_diag *d);
/** The same for a graph within a node: each run gives shapes and dtypes of inputs. */
MSD_MUST_CHECK msd_err msd_plan_create_within(modser_graph *graph,
					      struct msd_plan **ret,
					      struct msd_diag *d);
MSD_MUST_CHECK msd_err msd_plan_call(struct msd_plan *plan,
				     const struct msd_plan_args *args,
				     struct msd_diag *d);
/**
 * The same for programs that have only bytes: shapes are those of the graph's input
 * tensors, and the outputs stay in the plan's memory.
 */
MSD_MUST_CHECK msd_err msd_plan_run(struct msd_plan *plan, const void *const *inputs,
				    struct msd_diag *d);
/** Output @i with the shape and dtype of the last run; valid until the next one. */
const modser_sg_tensor *msd_plan_output_tensor(const struct msd_plan *plan, size_t i);
/**
 * The bytes of output @i of the last run, valid until the next one. If the output is
 * an input, or was made by the caller, they are the caller's.
 */
const void *msd_plan_output(const struct msd_plan *plan, size_t i);
/** Size of the arena in bytes; 0 if there is no arena (yet). */
size_t msd_plan_arena_bytes(const struct msd_plan *plan);
void msd_plan_destroy(struct msd_plan *plan); /* NULL is fine */

#endif
