/* PriorBox: its boxes depend on shapes alone. */
#include "graph/op/window/prior_box.h"

#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_op_priors p;

	(void)d;
	msd_op_priors_of(c->node, &p);
	msd_op_priors_fill(&p, (size_t)msd_kernel_out_dims(c, 0)[2],
			   msd_kernel_out(c, 0));
	return MSD_OK;
}

const struct msd_kernel msd_kernel_prior_box = {"PriorBox", run, MSD_TAKES_FLOAT32};
