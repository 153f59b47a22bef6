#ifndef MSD_RUNTIME_ENGINE_TURNS_H
#define MSD_RUNTIME_ENGINE_TURNS_H
/*
 * The iterations of a Loop or Scan: values that each iteration passes to the next
 * (states), and the stacked outputs of all iterations. The body's outputs are @first
 * values that the kernel reads itself, then the states, then the stacked outputs.
 */
#include "runtime/plan/flow.h"

struct msd_stack;

struct msd_turns {
	struct msd_flow_graph *body;
	struct msd_flow_value
		*in; /* inputs of the body: set by the kernel before each iteration */
	struct msd_flow_value *states; /* points into `in` */
	void **kept; /* bytes of the states after the first iteration */
	void **next; /* those of the current iteration */
	size_t n_states;
	struct msd_stack *stacks;
	size_t n_stacks;
	size_t first;
	bool has_turned;
};

/** Initialise for the node of @c; its states begin at input @state of the body. */
MSD_MUST_CHECK msd_err msd_turns_init(struct msd_turns *t,
				      const struct msd_flow_call *c, size_t state,
				      size_t first, struct msd_diag *d);
/** Run one iteration. */
MSD_MUST_CHECK msd_err msd_turns_run(struct msd_turns *t, struct msd_diag *d);
/**
 * End the iterations. If there were none, the shapes of the stacked outputs are
 * inferred from the values of a first iteration.
 */
MSD_MUST_CHECK msd_err msd_turns_end(const struct msd_turns *t, struct msd_diag *d);
/** Write the last states to the first outputs of the node. */
MSD_MUST_CHECK msd_err msd_turns_give(const struct msd_turns *t,
				      const struct msd_flow_call *c,
				      struct msd_diag *d);
/**
 * After msd_turns_end(): write the stacked outputs to the remaining outputs, output
 * @k of them along its axis.
 */
MSD_MUST_CHECK msd_err msd_turns_give_stack(const struct msd_turns *t,
					    const struct msd_flow_call *c, size_t k,
					    int64_t axis, bool is_reverse,
					    struct msd_diag *d);
void msd_turns_finish(struct msd_turns *t);

#endif
