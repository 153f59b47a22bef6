/* NonMaxSuppression: inference has already counted the selected boxes; this kernel
 * writes them. */
#include "graph/op/window/suppression.h"

#include <stdlib.h>

#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_op_boxes b;
	uint64_t *scratch;

	if (msd_op_boxes_of(c->node, &b) != 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its boxes are not known where it runs");
	}
	scratch = calloc(b.n_boxes + 1, sizeof(*scratch));
	if (scratch == NULL)
		return msd_diag_no_memory(d);
	(void)msd_op_suppress(&b, scratch, c->out[0]);
	free(scratch);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_non_max_suppression = {"NonMaxSuppression", run,
							  MSD_TAKES_FLOAT32_FIRST};
