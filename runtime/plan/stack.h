#ifndef MSD_RUNTIME_ENGINE_STACK_H
#define MSD_RUNTIME_ENGINE_STACK_H
/* Stacks the outputs of the iterations of a Loop or Scan, tensors of one shape, along
 * a new axis. */
#include "runtime/plan/flow.h"

struct msd_stack {
	struct msd_flow_value like; /* the first tensor, without its bytes */
	size_t n;
	uint8_t *p; /* all tensors, concatenated */
	size_t room;
};

/**
 * Add @v. Errors: MSD_BAD_ARTIFACT: it differs in shape or type from the earlier
 * ones.
 */
MSD_MUST_CHECK msd_err msd_stack_push(struct msd_stack *s,
				      const struct msd_flow_value *v,
				      struct msd_diag *d);
/**
 * Write all, stacked along a new axis @axis, to output @i of the running node;
 * @is_reverse: last one first. All are like @v; its unknown extents are 0.
 */
MSD_MUST_CHECK msd_err msd_stack_give(const struct msd_stack *s,
				      const struct msd_flow_call *c, size_t i,
				      const struct msd_flow_value *v, int64_t axis,
				      bool is_reverse, struct msd_diag *d);
void msd_stack_finish(struct msd_stack *s);

#endif
