#ifndef MSD_RUNTIME_PLAN_ENTRY_H
#define MSD_RUNTIME_PLAN_ENTRY_H
/*
 * The runs of a graph with one set of input shapes: all shapes, the offset of each
 * tensor in the arena, and the arguments of each kernel. A run sets only the addresses
 * of inputs and outputs.
 */
#include "graph/layout/memory_plan.h"
#include "graph/layout/views.h"
#include "runtime/kernel/kernel.h"
#include "runtime/plan/allocator.h"
#include "runtime/plan/args.h"
#include "runtime/plan/group.h"
#include "runtime/plan/program.h"

struct msd_clock_part;
struct msd_reorder;
struct msd_reorders;

/* A node, a group of nodes, or a reorder for one. */
struct msd_entry_step {
	const struct msd_engine_node *by;
	struct msd_kernel_call call;
	const struct msd_group *group; /* NULL: no group */
	size_t row; /* its number in the plan, counted from the first: describe.h */
};

/* The tensors of the arguments of a node or a group. */
struct msd_entry_ends {
	const modser_sg_tensor *const *in, *const *out;
	size_t n_in, n_out;
};

/* An argument that each run sets: it lies in input @i of the graph. */
struct msd_entry_patch {
	const void **argument;
	size_t i;
	size_t offset;
};

/* The same in output @i, which the caller may make. */
struct msd_entry_out_patch {
	void **argument;
	size_t i;
	size_t offset;
};

struct msd_entry_output {
	const struct msd_reorder *by; /* that makes its rows; NULL: none does */
	/* The first output with this tensor, whose memory the caller may make;
	 * SIZE_MAX: the caller gets a copy. */
	size_t made;
};

struct msd_entry {
	modser_graph *g; /* the plan's graph, or a view of it */
	bool owns_view;
	struct msd_groups groups;
	struct msd_views views; /* none if there are groups or reorders */
	struct msd_memory_plan memory;
	struct msd_entry_step *steps; /* none of a node that is a view */
	size_t n_steps;
	const void **in; /* the arguments of all steps, one after the other */
	void **out;
	struct msd_entry_patch *patches;
	size_t n_patches;
	struct msd_entry_out_patch *out_patches;
	size_t n_out_patches;
	struct msd_entry_output *outputs; /* by output */
	struct msd_reorders *reorders;    /* NULL: all tensors are row-major */
	const uint8_t *arena; /* the block whose addresses the arguments are */
	uint64_t used;        /* time of last use; 0: the entry is free */
};

/**
 * Prepare runs of @g: the graph of @p, or a view of it, with all shapes known. Engines
 * claim nodes that have none yet. Finish @e in any case.
 */
MSD_MUST_CHECK msd_err msd_entry_init(struct msd_entry *e, struct msd_graph_program *p,
				      modser_graph *g, struct msd_diag *d);
void msd_entry_finish(struct msd_entry *e);
/** @step is no reorder. */
struct msd_entry_ends msd_entry_ends(const struct msd_entry_step *step);
/** True if the entry is for inputs of these shapes and dtypes. */
bool msd_entry_is_for(const struct msd_entry *e, const struct msd_graph_program *p,
		      const struct msd_plan_input *inputs);
/**
 * Run in @arena. @times gets the time of each step in its row. @ret_outputs gets the
 * address of each output.
 */
MSD_MUST_CHECK msd_err msd_entry_run(struct msd_entry *e, struct msd_arena_block *arena,
				     const struct msd_plan_args *call,
				     const struct msd_clock_part *times,
				     const void **ret_outputs, struct msd_diag *d);
/**
 * Copy output @i of @g from *@at, if the caller makes memory for it; *@at is then the
 * copy.
 */
MSD_MUST_CHECK msd_err msd_entry_copy_output(const struct msd_plan_args *call,
					     const modser_graph *g, size_t i,
					     const void **at, struct msd_diag *d);
/** The error of step @node of a run. */
msd_err msd_entry_blame(const modser_sg_node *node, msd_err err, struct msd_diag *d);

#endif
