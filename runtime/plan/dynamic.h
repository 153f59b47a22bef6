#ifndef MSD_RUNTIME_PLAN_DYNAMIC_H
#define MSD_RUNTIME_PLAN_DYNAMIC_H
/* Runs of a graph whose shapes depend on computed values: each node is inferred after
 * its inputs were computed, and each tensor has memory of its own until its last
 * reader. */
#include "runtime/plan/allocator.h"
#include "runtime/plan/args.h"
#include "runtime/plan/program.h"

struct msd_clock_part;

struct msd_dynamic {
	struct msd_graph_program *p;
	modser_graph *g; /* a view, owned; its tensors have the state of the run */
	const struct msd_allocator *allocator;
	void **own;      /* by tensor: its memory while it exists */
	const void **at; /* by tensor: its address during a run */
	const void **in; /* arguments of the running node */
	void **out;
	const struct msd_plan_args *call; /* of the run */
};

/** Prepare runs of @view, a view of the graph of @p; takes ownership of it. */
MSD_MUST_CHECK msd_err msd_dynamic_create(struct msd_graph_program *p,
					  modser_graph *view,
					  const struct msd_allocator *allocator,
					  struct msd_dynamic **ret, struct msd_diag *d);
void msd_dynamic_destroy(struct msd_dynamic *y); /* NULL is fine */
/**
 * Run; the view's inputs have the shapes of the call, and @times gets the times of the
 * nodes. @ret_outputs gets the address of each output, valid until the next run.
 */
MSD_MUST_CHECK msd_err msd_dynamic_run(struct msd_dynamic *y,
				       const struct msd_plan_args *call,
				       const struct msd_clock_part *times,
				       const void **ret_outputs, struct msd_diag *d);

#endif
