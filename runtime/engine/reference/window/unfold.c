/* MaxUnpool: elements return to the positions of their indices. Col2Im: each image
 * element is the sum of all window elements at its position. */
#include "graph/op/window/unfold.h"

#include <string.h>

#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"

static msd_err run_unpool(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t size = msd_kernel_size(c);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	int64_t steps[MODSER_GRAPH_MAX_NDIM];
	struct msd_walk w;

	if (msd_op_unpool_dims(c->node, dims) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its shape is not known");
	const int64_t all = (int64_t)msd_kernel_outer(dims, ndim);
	msd_walk_steps(msd_kernel_out_dims(c, 0), ndim, steps);
	msd_walk_init(&w, dims, ndim);
	msd_walk_operand(&w, steps, 0);
	if (msd_kernel_out_elements(c, 0) > 0)
		memset(c->out[0], 0, msd_kernel_out_elements(c, 0) * size);
	for (size_t i = 0; i < msd_kernel_in_elements(c, 0); i++) {
		int64_t at;
		const msd_err err = msd_kernel_index(c, 1, (int64_t)i, all, &at, d);

		if (err != MSD_OK)
			return err;
		memcpy((uint8_t *)c->out[0] +
			       (size_t)msd_walk_place(&w, 0, (size_t)at) * size,
		       (const uint8_t *)c->in[0] + i * size, size);
	}
	return MSD_OK;
}

struct fold {
	const struct msd_kernel_call *c;
	struct msd_op_fold axes[MODSER_GRAPH_MAX_NDIM];
	size_t n;
	size_t block;  /* elements per window */
	size_t places; /* number of windows */
	size_t image;  /* elements per channel */
};

/* The window with element @tap at image element @at; false if there is none. */
static bool window_of(const struct fold *f, size_t tap, size_t at, size_t *ret)
{
	size_t place = 0;
	size_t step = 1;

	for (size_t i = f->n; i > 0; i--) {
		const struct msd_op_fold *a = &f->axes[i - 1];
		const int64_t begin = (int64_t)(at % (size_t)a->image) + a->before -
				      (int64_t)(tap % (size_t)a->block) * a->dilation;

		if (begin < 0 || begin % a->stride != 0 ||
		    begin / a->stride >= a->places)
			return false;
		place += (size_t)(begin / a->stride) * step;
		step *= (size_t)a->places;
		at /= (size_t)a->image;
		tap /= (size_t)a->block;
	}
	*ret = place;
	return true;
}

static void fold_channel(const void *ctx, size_t channel)
{
	const struct fold *f = ctx;

	for (size_t at = 0; at < f->image; at++) {
		double sum = 0;
		size_t place;

		for (size_t tap = 0; tap < f->block; tap++) {
			if (window_of(f, tap, at, &place)) {
				sum += msd_kernel_get(
					f->c, 0,
					(channel * f->block + tap) * f->places + place);
			}
		}
		msd_kernel_put(f->c, 0, channel * f->image + at, sum);
	}
}

static msd_err run_fold(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_out_dims(c, 0);
	const size_t channels = msd_kernel_outer(dims, 2);
	struct fold f = {.c = c, .block = 1};

	if (msd_op_folds(c->node, f.axes, &f.n) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its image is not known");
	for (size_t i = 0; i < f.n; i++)
		f.block *= (size_t)f.axes[i].block;
	f.places = (size_t)msd_kernel_in_dims(c, 0)[2];
	f.image = msd_kernel_inner(dims, f.n + 2, 1);
	msd_kernel_each(channels, 4 * f.places * f.block, fold_channel, &f);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_max_unpool = {"MaxUnpool", run_unpool,
						 MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_col2im = {"Col2Im", run_fold, MSD_TAKES_FLOATS};
