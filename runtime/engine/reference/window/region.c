/* Region: for each box and place, two coordinates and whether there is a box become
 * probabilities, and its classes a Softmax, as in a YOLO of version 2. */
#include <math.h>

#include "graph/op/window/params.h"
#include "runtime/kernel/kernels.h"

enum { COORDS = 4, BEFORE_CLASSES = COORDS + 1 };

static void softmax(const struct msd_kernel_call *c, size_t at, size_t n, size_t step)
{
	double largest = -INFINITY;
	double sum = 0;

	for (size_t k = 0; k < n; k++)
		largest = fmax(largest, msd_kernel_get(c, 0, at + k * step));
	for (size_t k = 0; k < n; k++)
		sum += exp(msd_kernel_get(c, 0, at + k * step) - largest);
	for (size_t k = 0; k < n; k++) {
		const size_t e = at + k * step;

		msd_kernel_put(c, 0, e, exp(msd_kernel_get(c, 0, e) - largest) / sum);
	}
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t classes = (size_t)msd_params_region(c->node).num_classes;
	const size_t plane = msd_kernel_inner(msd_kernel_in_dims(c, 0), 4, 1);
	const size_t box = (classes + BEFORE_CLASSES) * plane;

	(void)d;
	for (size_t at = 0; at < msd_kernel_out_elements(c, 0); at += box) {
		for (size_t i = 0; i < BEFORE_CLASSES * plane; i++) {
			const double x = msd_kernel_get(c, 0, at + i);
			const bool is_kept = i >= 2 * plane && i < COORDS * plane;

			msd_kernel_put(c, 0, at + i, is_kept ? x : 1 / (1 + exp(-x)));
		}
		for (size_t i = 0; i < plane; i++)
			softmax(c, at + BEFORE_CLASSES * plane + i, classes, plane);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_region = {"Region", run, MSD_TAKES_FLOATS_ALONE};
