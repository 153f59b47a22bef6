/* A convolution with moved taps: an offset puts each tap between four input elements,
 * and a mask may weight it. The rest is a product, as in every convolution. */
#include <math.h>

#include "graph/op/window/params.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

enum { OFFSETS = 2, BIAS = 3, MASK = 4 };

struct deformed {
	struct msd_conv c; /* first member: the context of the product */
	const void *offsets;
	const void *mask; /* NULL: none */
	size_t n_moves;   /* groups of channels with their own offsets */
	size_t per_move;  /* channels per group */
};

static double element(const struct msd_conv *c, size_t plane, double y, double x)
{
	const struct msd_op_window *h = &c->axes[MSD_CONV_HEIGHT];
	const struct msd_op_window *w = &c->axes[MSD_CONV_WIDTH];

	if (!(y >= 0 && y < (double)h->in && x >= 0 && x < (double)w->in))
		return 0;
	return msd_row_at(c->dtype, c->x,
			  plane * c->in_plane + (size_t)y * (size_t)w->in + (size_t)x);
}

/* Interpolated value at @y, @x of a plane; zero outside. */
static double between(const struct msd_conv *c, size_t plane, double y, double x)
{
	const double top = floor(y);
	const double left = floor(x);
	const double down = y - top;
	const double right = x - left;

	if (!isfinite(y) || !isfinite(x))
		return 0;
	return (1 - down) * ((1 - right) * element(c, plane, top, left) +
			     right * element(c, plane, top, left + 1)) +
	       down * ((1 - right) * element(c, plane, top + 1, left) +
		       right * element(c, plane, top + 1, left + 1));
}

/* Input position of tap @tap of @w for output position @place, before the offset. */
static double unmoved(const struct msd_op_window *w, int64_t place, int64_t tap)
{
	return (double)(place * w->stride - w->before + tap * w->dilation);
}

static void get_places(const void *ctx, size_t stack, size_t k, size_t first,
		       size_t count, double *ret)
{
	const struct deformed *all = ctx;
	const struct msd_conv *c = &all->c;
	const struct msd_op_window *h = &c->axes[MSD_CONV_HEIGHT];
	const struct msd_op_window *w = &c->axes[MSD_CONV_WIDTH];
	const size_t image = stack / c->n_groups;
	const size_t channel = stack % c->n_groups * c->group_in + k / c->taps;
	const size_t tap = k % c->taps;
	const size_t move =
		(image * all->n_moves + channel / all->per_move) * c->taps + tap;
	const size_t plane = image * c->in_channels + channel;

	for (size_t i = 0; i < count; i++) {
		const size_t at = first + i;
		int64_t place[MSD_OP_AXES];

		msd_conv_place(c, at, place);
		const double y =
			unmoved(h, place[MSD_CONV_HEIGHT], (int64_t)tap / w->kernel) +
			msd_row_at(c->dtype, all->offsets,
				   2 * move * c->out_plane + at);
		const double x =
			unmoved(w, place[MSD_CONV_WIDTH], (int64_t)tap % w->kernel) +
			msd_row_at(c->dtype, all->offsets,
				   (2 * move + 1) * c->out_plane + at);

		ret[i] = between(c, plane, y, x);
		if (all->mask != NULL) {
			ret[i] *= msd_row_at(c->dtype, all->mask,
					     move * c->out_plane + at);
		}
	}
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	struct deformed all = {
		.offsets = call->in[OFFSETS],
		.mask = msd_kernel_has(call, MASK) ? call->in[MASK] : NULL,
		.n_moves = (size_t)msd_params_deformable_convolution(call->node)
				   .offset_group,
	};
	struct msd_conv *c = &all.c;

	(void)d;
	msd_op_conv_windows(call->node, c->axes);
	msd_conv_operands(call, msd_params_deformable_convolution(call->node).group, c);
	c->bias = msd_kernel_has(call, BIAS) ? call->in[BIAS] : NULL;
	all.per_move = c->in_channels / all.n_moves;
	struct msd_product product = msd_conv_product(call, c);
	product.b = get_places;
	msd_product_run(&product);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_deformable_convolution = {"DeformConv", run,
							     MSD_TAKES_FLOATS_ALONE};
