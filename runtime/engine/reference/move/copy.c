/* Operators that change only the shape. */
#include <string.h>

#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n = msd_kernel_out_elements(c, 0) * msd_kernel_size(c);

	(void)d;
	if (n > 0)
		memcpy(c->out[0], c->in[0], n);
	return MSD_OK;
}

/* Nothing is dropped; the mask is all true. */
static msd_err run_dropout(const struct msd_kernel_call *c, struct msd_diag *d)
{
	if (modser_sg_node_output(c->node, 1) != NULL)
		memset(c->out[1], 1, msd_kernel_out_elements(c, 1));
	return run(c, d);
}

#define COPY(id, op, run)                                                              \
	const struct msd_kernel msd_kernel_##id = {op, run, MSD_TAKES_BYTES}

COPY(reshape, "Reshape", run);
COPY(flatten, "Flatten", run);
COPY(dropout, "Dropout", run_dropout);
COPY(bit_cast, "BitCast", run);
COPY(noop, "Noop", run);
COPY(expanddims, "Expanddims", run);
COPY(squeeze, "Squeeze", run);
COPY(unsqueeze, "Unsqueeze", run);
