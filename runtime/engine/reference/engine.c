/* The reference engine: it accepts each node with a kernel for its operator. */
#include "runtime/engine/engine.h"

#include "runtime/kernel/kernel.h"

static msd_err take(const struct msd_engine *e, const modser_sg_node *node,
		    void **ret_state, struct msd_diag *d)
{
	const struct msd_kernel *kernel =
		msd_kernel_find(modser_sg_op_name(modser_sg_node_op(node)));

	(void)e;
	(void)d;
	if (kernel == NULL)
		return MSD_UNSUPPORTED;
	*ret_state = (void *)(uintptr_t)kernel;
	return MSD_OK;
}

static msd_err check(void *state, const modser_sg_node *node, struct msd_diag *d)
{
	return msd_kernel_check(state, node, d);
}

static msd_err run(void *state, const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_kernel *kernel = state;

	return kernel->run(c, d);
}

const struct msd_engine msd_engine_reference = {
	.name = "reference", .take = take, .check = check, .run = run};
