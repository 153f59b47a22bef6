/* CenterCropPad: the middle elements that both have are copied; if the difference is
 * odd, the extra one is at the end. */
#include <string.h>

#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);
	const size_t size = msd_kernel_size(c);
	int64_t in_steps[MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t out_steps[MODSER_GRAPH_MAX_NDIM] = {0};
	int64_t both[MODSER_GRAPH_MAX_NDIM];
	int64_t from = 0;
	int64_t to = 0;
	struct msd_walk w;

	(void)d;
	msd_walk_steps(in, ndim, in_steps);
	msd_walk_steps(out, ndim, out_steps);
	for (size_t i = 0; i < ndim; i++) {
		const int64_t less = in[i] - out[i];

		both[i] = less > 0 ? out[i] : in[i];
		from += less > 0 ? less / 2 * in_steps[i] : 0;
		to += less < 0 ? -less / 2 * out_steps[i] : 0;
	}
	if (msd_kernel_out_elements(c, 0) > 0)
		memset(c->out[0], 0, msd_kernel_out_elements(c, 0) * size);
	msd_walk_init(&w, both, ndim);
	msd_walk_operand(&w, in_steps, from);
	msd_walk_operand(&w, out_steps, to);
	/* The last axis of both is contiguous: copy whole rows. */
	for (msd_walk_begin(&w); w.row < w.n_rows; msd_walk_next(&w)) {
		memcpy((uint8_t *)c->out[0] + (size_t)w.at[1] * size,
		       (const uint8_t *)c->in[0] + (size_t)w.at[0] * size,
		       (size_t)w.n * size);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_center_crop_pad = {"CenterCropPad", run,
						      MSD_TAKES_BYTES};
