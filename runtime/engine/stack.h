#ifndef MSD_RUNTIME_ENGINE_STACK_H
#define MSD_RUNTIME_ENGINE_STACK_H
/* What the turns of a Loop or Scan give, tensors of one shape, as one tensor with an
 * axis more. */
#include "runtime/engine/flow.h"

struct msd_stack {
	struct msd_flow_value like; /* the first of them; its bytes are gone */
	size_t n;
	uint8_t *p; /* all of them, one behind the other */
	size_t room;
};

/** Add @v. Errors: MSD_BAD_ARTIFACT: it is not like the others. */
MSD_MUST_CHECK msd_err msd_stack_push(struct msd_stack *s,
				      const struct msd_flow_value *v,
				      struct msd_diag *d);
/** Let all, along a new axis @axis, be output @i of the node that is run; @is_reverse:
 * the last one first. All are like @v, whose open extents are 0. */
MSD_MUST_CHECK msd_err msd_stack_give(const struct msd_stack *s,
				      const struct msd_flow_call *c, size_t i,
				      const struct msd_flow_value *v, int64_t axis,
				      bool is_reverse, struct msd_diag *d);
void msd_stack_finish(struct msd_stack *s);

#endif
