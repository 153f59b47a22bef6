/* What changes the shape alone. */
#include <string.h>

#include "runtime/engine/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	(void)d;
	memcpy(c->out[0], c->in[0], msd_kernel_out_elements(c, 0) * sizeof(float));
	return MSD_OK;
}

const struct msd_kernel msd_kernel_dropout = {"Dropout", run};
const struct msd_kernel msd_kernel_flatten = {"Flatten", run};
const struct msd_kernel msd_kernel_reshape = {"Reshape", run};
