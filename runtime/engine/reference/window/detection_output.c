/* DetectionOutput: inference has already counted the detections; this kernel writes
 * them. */
#include "graph/op/window/detect.h"
#include "runtime/kernel/kernels.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct msd_op_detect x;
	size_t n;

	if (msd_op_detect_of(c->node, &x) != 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its boxes are not known where it runs");
	}
	return msd_op_detect_run(&x, c->out[0], &n) ? MSD_OK : msd_diag_no_memory(d);
}

const struct msd_kernel msd_kernel_detection_output = {"DetectionOutput", run,
						       MSD_TAKES_FLOAT32};
