/*
 * Depthwise convolution: each plane of the output depends on one plane of the input,
 * so the blocks of a product would share no data. One range of an output row is
 * summed at a time; the input row is read once for all taps that use it. Sums add in
 * the order of msd_product_run() and have the same bits.
 */
#include "runtime/engine/reference/layer/product.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/kernel.h"

enum { STRETCH = 64, MAX_LINE = 512, MAX_TAPS = 256 };

struct by_channel {
	const struct msd_conv *c;
	const struct msd_product *p;
};

/* Number of input elements that @n positions of a row use. */
static int64_t line_of(const struct msd_conv *c, int64_t n)
{
	const struct msd_op_window *w = &c->axes[MSD_CONV_WIDTH];

	return (n - 1) * w->stride + msd_op_window_reach(w);
}

static bool fits(const struct msd_conv *c, const struct msd_product *p)
{
	const struct msd_op_window *depth = &c->axes[MSD_CONV_DEPTH];

	return c->group_in == 1 && p->m == 1 && c->taps <= MAX_TAPS && depth->in == 1 &&
	       depth->out == 1 && depth->kernel == 1 &&
	       c->axes[MSD_CONV_WIDTH].stride <= MAX_LINE / STRETCH / 2 &&
	       msd_op_window_reach(&c->axes[MSD_CONV_WIDTH]) <= MAX_LINE / 2;
}

/* Add the contribution of one row of taps to @n sums. */
static void add_row(const struct msd_conv *c, const double *taps, const double *line,
		    size_t n, double *sums)
{
	const struct msd_op_window *w = &c->axes[MSD_CONV_WIDTH];
	const size_t stride = (size_t)w->stride;

	for (size_t k = 0; k < (size_t)w->kernel; k++) {
		const double *from = line + k * (size_t)w->dilation;
		const double tap = taps[k];

		if (stride == 1) { /* the compiler vectorises this loop */
			for (size_t i = 0; i < n; i++)
				sums[i] += tap * from[i];
			continue;
		}
		for (size_t i = 0; i < n; i++)
			sums[i] += tap * from[i * stride];
	}
}

static void sum_stretch(const struct by_channel *b, size_t stack, const double *taps,
			int64_t row, int64_t first, int64_t n)
{
	const struct msd_conv *c = b->c;
	const struct msd_op_window *h = &c->axes[MSD_CONV_HEIGHT];
	const struct msd_op_window *w = &c->axes[MSD_CONV_WIDTH];
	const size_t at = (size_t)(row * w->out + first);
	double sums[STRETCH] = {0};
	double line[MAX_LINE];

	if (b->p->begin != NULL)
		b->p->begin(b->p->ctx, stack, 0, at, (size_t)n, sums);
	for (int64_t k = 0; k < h->kernel; k++) {
		const int64_t ih = row * h->stride - h->before + k * h->dilation;
		const int64_t plane = (int64_t)(stack * c->in_plane);

		msd_conv_line(c, ih < 0 || ih >= h->in ? -1 : plane + ih * w->in,
			      first * w->stride - w->before, 1, line_of(c, n), line);
		add_row(c, taps + k * w->kernel, line, (size_t)n, sums);
	}
	b->p->end(b->p->ctx, stack, 0, at, (size_t)n, sums);
}

static void run_plane(const void *ctx, size_t stack)
{
	const struct by_channel *b = ctx;
	const int64_t width = b->c->axes[MSD_CONV_WIDTH].out;
	double taps[MAX_TAPS] = {0};

	b->p->a(b->p->ctx, stack, 0, 0, b->c->taps, taps);
	for (int64_t row = 0; row < b->c->axes[MSD_CONV_HEIGHT].out; row++) {
		for (int64_t i = 0; i < width; i += STRETCH) {
			const int64_t left = width - i;

			sum_stretch(b, stack, taps, row, i,
				    left < STRETCH ? left : STRETCH);
		}
	}
}

void msd_conv_run(const struct msd_conv *c, const struct msd_product *p)
{
	const struct by_channel b = {c, p};

	if (fits(c, p)) {
		msd_kernel_each(p->n_stacks, (size_t)c->taps * p->n, run_plane, &b);
	} else {
		msd_product_run(p);
	}
}
