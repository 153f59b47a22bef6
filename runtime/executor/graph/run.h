#ifndef MSD_RUNTIME_EXECUTOR_GRAPH_RUN_H
#define MSD_RUNTIME_EXECUTOR_GRAPH_RUN_H
/*
 * One instance of a planned graph: its intermediate memory and the tensors that are
 * the operators' arguments, made once. A run points the inputs at the caller's memory
 * and the outputs at fresh memory, then calls the operators in order; nothing is
 * copied. One thread at a time.
 */
#include "runtime/executor/graph/plan.h"
#include "runtime/value/value.h"

struct msd_graph_instance;

/** @plan must outlive the instance. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_graph_instance_create(const struct msd_graph_plan *plan,
						 struct msd_graph_instance **ret,
						 struct msd_diag *d);
void msd_graph_instance_destroy(struct msd_graph_instance *g); /* NULL is fine */
/**
 * Run with @args, tensors in the order of plan->inputs. The result is the output, or
 * a tuple of several outputs; it outlives the instance. Returns 0, or -1 with the
 * error raised.
 */
int msd_graph_instance_run(struct msd_graph_instance *g, const struct msd_any *args,
			   int32_t n, struct msd_any *ret);

/* Single steps, for callers that keep an instance (state.c). Each returns 0, or -1
 * with the error raised. @entry is an entry of the graph. */

/**
 * Copy @t, of the entry's size, into the instance. A parameter changes only for this
 * instance.
 */
int msd_graph_instance_set(struct msd_graph_instance *g, uint32_t entry,
			   const struct msd_dltensor *t);
/**
 * Use the memory of @t, which must stay, until the entry is set or shared again.
 * False: it is on another device, or the graph would write to it.
 */
bool msd_graph_instance_share(struct msd_graph_instance *g, uint32_t entry,
			      const struct msd_dltensor *t);
/**
 * Run on the inputs; inputs that were not set are zero. Outputs get fresh memory,
 * kept until the next run.
 */
int msd_graph_instance_execute(struct msd_graph_instance *g);
/** The tensor of @entry: an output after a run, or a copy of an input. */
int msd_graph_instance_get(struct msd_graph_instance *g, uint32_t entry,
			   struct msd_any *ret);

#endif
