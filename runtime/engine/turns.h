#ifndef MSD_RUNTIME_ENGINE_TURNS_H
#define MSD_RUNTIME_ENGINE_TURNS_H
/*
 * The turns of a Loop or Scan: values that each turn hands to the next, and the outputs
 * of all turns. The body's outputs are those values, then the others, behind @first
 * that the kernel reads by itself.
 */
#include "runtime/engine/flow.h"

struct msd_stack;

struct msd_turns {
	struct msd_flow_graph *body;
	struct msd_flow_value *in; /* of the body: the kernel's, to be set each turn */
	struct msd_flow_value *states; /* within `in` */
	void **kept;                   /* their bytes after the first turn */
	void **next;                   /* those of the turn that runs */
	size_t n_states;
	struct msd_stack *stacks;
	size_t n_stacks;
	size_t first;
	bool has_turned;
};

/** Turns of the node of @c, whose states are from input @state of the body on. */
MSD_MUST_CHECK msd_err msd_turns_init(struct msd_turns *t,
				      const struct msd_flow_call *c, size_t state,
				      size_t first, struct msd_diag *d);
/** One turn. */
MSD_MUST_CHECK msd_err msd_turns_run(struct msd_turns *t, struct msd_diag *d);
/** The turns are over: without any, what they would have given is inferred from the
 * values that a first turn would get. */
MSD_MUST_CHECK msd_err msd_turns_end(const struct msd_turns *t, struct msd_diag *d);
/** The last values as the first outputs of the node. */
MSD_MUST_CHECK msd_err msd_turns_give(const struct msd_turns *t,
				      const struct msd_flow_call *c,
				      struct msd_diag *d);
/** After msd_turns_end(), those of all turns as the others: output @k of them with its
 * axis. */
MSD_MUST_CHECK msd_err msd_turns_give_stack(const struct msd_turns *t,
					    const struct msd_flow_call *c, size_t k,
					    int64_t axis, bool is_reverse,
					    struct msd_diag *d);
void msd_turns_finish(struct msd_turns *t);

#endif
