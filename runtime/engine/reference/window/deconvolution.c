/*
 * Deconvolution: the kernel spreads each input element over the output. Output
 * positions whose coordinates have the same remainders by the strides are a phase: the
 * same taps reach them, so a phase is a product of matrices. Each sum adds, channel by
 * channel, the sum of the channel's taps.
 *
 * Where a product's zeros for positions outside of the input or its rounding would
 * change results, each output element is computed by itself: weights with infinities
 * or NaN, float64, and very many taps.
 */
#include "graph/op/window/params.h"
#include "runtime/engine/reference/window/conv.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/*
 * The taps of one axis that reach an output position: @n taps from @tap on, each
 * @tap_step after the one before it. The first has the input position @at, each of the
 * others one @at_step smaller.
 */
struct reach {
	int64_t n;
	int64_t tap;
	int64_t tap_step;
	int64_t at;
	int64_t at_step;
};

/* Counts taps whose input position does not exist, too. */
static struct reach reach_of(const struct msd_op_window *w, int64_t o)
{
	const int64_t from = o + w->before;
	struct reach r = {.tap_step = 1};

	/* The dilation's multiples have equal remainders after this many taps. */
	while (r.tap_step * w->dilation % w->stride != 0)
		r.tap_step++;
	while (r.tap < r.tap_step && (from - r.tap * w->dilation) % w->stride != 0)
		r.tap++;
	if (r.tap == r.tap_step || r.tap >= w->kernel)
		return r;
	r.n = (w->kernel - 1 - r.tap) / r.tap_step + 1;
	r.at = (from - r.tap * w->dilation) / w->stride;
	r.at_step = r.tap_step * w->dilation / w->stride;
	return r;
}

/* Only taps whose input position exists. */
static struct reach inside_of(const struct msd_op_window *w, int64_t o)
{
	struct reach r = reach_of(w, o);
	const int64_t high = r.at - (w->in - 1);
	const int64_t skipped =
		r.n == 0 || high <= 0 ? 0 : (high + r.at_step - 1) / r.at_step;

	r.tap += skipped * r.tap_step;
	r.at -= skipped * r.at_step;
	r.n = r.n <= skipped || r.at < 0 ? 0
					 : least(r.n - skipped, r.at / r.at_step + 1);
	return r;
}

/* The taps of a channel that reach an output element. @x and @w: first element of the
 * channel and of its kernel. */
static double sum_channel(const struct msd_conv *c, const struct reach *r, int64_t x,
			  int64_t w)
{
	const struct msd_op_window *a = c->axes;
	const struct reach *d = &r[MSD_CONV_DEPTH];
	const struct reach *h = &r[MSD_CONV_HEIGHT];
	const struct reach *v = &r[MSD_CONV_WIDTH];
	double sum = 0;

	for (int64_t i = 0; i < d->n; i++) {
		for (int64_t k = 0; k < h->n; k++) {
			const int64_t row =
				(d->at - i * d->at_step) * a[MSD_CONV_HEIGHT].in +
				h->at - k * h->at_step;
			const int64_t line =
				(d->tap + i * d->tap_step) * a[MSD_CONV_HEIGHT].kernel +
				h->tap + k * h->tap_step;
			const int64_t from = x + row * a[MSD_CONV_WIDTH].in + v->at;
			const int64_t tap =
				w + line * a[MSD_CONV_WIDTH].kernel + v->tap;

			for (int64_t j = 0; j < v->n; j++) {
				sum += msd_row_at(c->dtype, c->x,
						  (size_t)(from - j * v->at_step)) *
				       msd_row_at(c->dtype, c->w,
						  (size_t)(tap + j * v->tap_step));
			}
		}
	}
	return sum;
}

/* One output channel of one image, element by element. */
static void run_channel(const void *ctx, size_t part)
{
	const struct msd_conv *c = ctx;
	const size_t channel = part % c->channels;
	const size_t image = part / c->channels;
	const size_t first = channel / c->group_out * c->group_in;
	int64_t o[MSD_OP_AXES];
	struct reach r[MSD_OP_AXES];

	for (size_t i = 0; i < c->out_plane; i++) {
		double sum =
			c->bias != NULL ? msd_row_at(c->dtype, c->bias, channel) : 0;

		msd_conv_place(c, i, o);
		for (size_t k = 0; k < MSD_OP_AXES; k++)
			r[k] = inside_of(&c->axes[k], o[k]);
		for (size_t k = first; k < first + c->group_in; k++) {
			const size_t x = (image * c->in_channels + k) * c->in_plane;
			const size_t w =
				(k * c->group_out + channel % c->group_out) * c->taps;

			sum += sum_channel(c, r, (int64_t)x, (int64_t)w);
		}
		msd_row_put(c->dtype, c->y, part * c->out_plane + i, sum);
	}
}

struct phase {
	struct msd_conv c;          /* first member: the context of the product */
	int64_t first[MSD_OP_AXES]; /* the first position */
	int64_t n[MSD_OP_AXES];     /* number of positions */
	struct reach r[MSD_OP_AXES];
	size_t taps;
	/* Of each tap: place in the kernel, and input position of the first position.
	 */
	size_t tap[MSD_PRODUCT_INNER];
	int64_t at[MSD_PRODUCT_INNER][MSD_OP_AXES];
};

/* At most as many as the kernel has. */
static void set_taps(struct phase *p)
{
	const struct msd_op_window *a = p->c.axes;
	const struct reach *r = p->r;
	size_t n = 0;

	for (int64_t i = 0; i < r[MSD_CONV_DEPTH].n; i++) {
		for (int64_t k = 0; k < r[MSD_CONV_HEIGHT].n; k++) {
			for (int64_t j = 0; j < r[MSD_CONV_WIDTH].n; j++, n++) {
				const int64_t step[] = {i, k, j};
				size_t tap = 0;

				for (size_t x = 0; x < MSD_OP_AXES; x++) {
					tap = tap * (size_t)a[x].kernel +
					      (size_t)(r[x].tap +
						       step[x] * r[x].tap_step);
					p->at[n][x] = r[x].at - step[x] * r[x].at_step;
				}
				p->tap[n] = tap;
			}
		}
	}
	p->taps = n;
}

static void set_phase(struct phase *p, const int64_t first[MSD_OP_AXES])
{
	for (size_t x = 0; x < MSD_OP_AXES; x++) {
		const struct msd_op_window *w = &p->c.axes[x];

		p->first[x] = first[x];
		p->n[x] = (w->out - first[x] + w->stride - 1) / w->stride;
		p->r[x] = reach_of(w, first[x]);
	}
	set_taps(p);
}

/* The weights are ordered by input channel, then by output channel of its group. */
static void get_kernels(const void *ctx, size_t stack, size_t m, size_t first,
			size_t count, double *ret)
{
	const struct phase *p = ctx;
	const struct msd_conv *c = &p->c;
	const size_t channel = stack % c->n_groups * c->group_in + first / p->taps;
	size_t w = (channel * c->group_out + m) * c->taps;
	size_t tap = first % p->taps;

	for (size_t i = 0; i < count; i++) {
		ret[i] = msd_row_at(c->dtype, c->w, w + p->tap[tap]);
		if (++tap == p->taps) {
			tap = 0;
			w += c->group_out * c->taps;
		}
	}
}

/* Input elements of a tap, a row of the phase's positions at a time. */
static void get_places(const void *ctx, size_t stack, size_t k, size_t first,
		       size_t count, double *ret)
{
	const struct phase *p = ctx;
	const struct msd_conv *c = &p->c;
	const struct msd_op_window *a = c->axes;
	const int64_t *at = p->at[k % p->taps];
	const size_t plane = (stack * c->group_in + k / p->taps) * c->in_plane;
	const size_t width = (size_t)p->n[MSD_CONV_WIDTH];

	for (size_t i = first, n; i < first + count; i += n) {
		const int64_t row = (int64_t)(i / width);
		const int64_t id = at[MSD_CONV_DEPTH] + row / p->n[MSD_CONV_HEIGHT];
		const int64_t ih = at[MSD_CONV_HEIGHT] + row % p->n[MSD_CONV_HEIGHT];
		const bool is_inside = id >= 0 && id < a[MSD_CONV_DEPTH].in &&
				       ih >= 0 && ih < a[MSD_CONV_HEIGHT].in;
		const int64_t from = (int64_t)plane + (id * a[MSD_CONV_HEIGHT].in +
						       ih) * a[MSD_CONV_WIDTH].in;

		n = width - i % width;
		n = n < first + count - i ? n : first + count - i;
		msd_conv_line(c, is_inside ? from : -1,
			      at[MSD_CONV_WIDTH] + (int64_t)(i % width), 1, (int64_t)n,
			      ret + (i - first));
	}
}

static void put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct phase *p = ctx;
	const struct msd_conv *c = &p->c;
	const struct msd_op_window *a = c->axes;
	const size_t plane = (stack * c->group_out + m) * c->out_plane;
	int64_t j = (int64_t)first % p->n[MSD_CONV_WIDTH];
	int64_t row = (int64_t)first / p->n[MSD_CONV_WIDTH];

	for (size_t i = 0; i < count; row++, j = 0) {
		const int64_t od =
			p->first[MSD_CONV_DEPTH] +
			row / p->n[MSD_CONV_HEIGHT] * a[MSD_CONV_DEPTH].stride;
		const int64_t oh =
			p->first[MSD_CONV_HEIGHT] +
			row % p->n[MSD_CONV_HEIGHT] * a[MSD_CONV_HEIGHT].stride;
		const int64_t line =
			(od * a[MSD_CONV_HEIGHT].out + oh) * a[MSD_CONV_WIDTH].out +
			p->first[MSD_CONV_WIDTH];

		for (; i < count && j < p->n[MSD_CONV_WIDTH]; i++, j++) {
			msd_row_put(
				c->dtype, c->y,
				plane + (size_t)(line + j * a[MSD_CONV_WIDTH].stride),
				sums[i]);
		}
	}
}

static bool is_finite(const struct msd_conv *c)
{
	const size_t n = c->in_channels * c->group_out * c->taps;
	double block[MSD_ROW_BLOCK];
	double sum = 0; /* NaN as soon as an element is not finite */

	for (size_t i = 0, count; i < n; i += count) {
		count = n - i < MSD_ROW_BLOCK ? n - i : MSD_ROW_BLOCK;
		msd_row_load(c->dtype, c->w, (int64_t)i, 1, count, block);
		for (size_t k = 0; k < count; k++)
			sum += block[k] * 0;
	}
	return sum == 0;
}

static bool are_products(const struct msd_conv *c)
{
	int64_t taps = 1; /* the most of a phase */

	for (size_t x = 0; x < MSD_OP_AXES; x++) {
		const struct msd_op_window *w = &c->axes[x];
		const int64_t n = (w->kernel - 1) / reach_of(w, 0).tap_step + 1;

		taps *= least(n, MSD_PRODUCT_INNER + 1);
	}
	return c->dtype.bits <= 32 && taps <= MSD_PRODUCT_INNER && is_finite(c);
}

static void run_phase(struct phase *p, size_t n_images)
{
	const struct msd_conv *c = &p->c;
	const struct msd_product product = {
		.n_stacks = n_images * c->n_groups,
		.m = c->group_out,
		.n = (size_t)(p->n[0] * p->n[1] * p->n[2]),
		.k = c->group_in * p->taps,
		.inner = p->taps,
		.a = get_kernels,
		.b = get_places,
		.begin = c->bias != NULL ? msd_conv_bias : NULL,
		.end = put,
		.ctx = p,
	};

	msd_product_run(&product);
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const size_t n_images = (size_t)msd_kernel_out_dims(call, 0)[0];
	struct phase p;
	struct msd_conv *c = &p.c;
	int64_t at[MSD_OP_AXES];

	(void)d;
	msd_op_deconv_windows(call->node, c->axes);
	msd_conv_operands(call, msd_params_deconvolution(call->node).group, c);
	c->bias = msd_kernel_has(call, 2) ? call->in[2] : NULL;
	c->zero = 0;
	if (!are_products(c)) {
		msd_kernel_each(n_images * c->channels, 4 * c->out_plane * c->taps,
				run_channel, c);
		return MSD_OK;
	}
	const struct msd_op_window *a = c->axes;
	for (at[0] = 0; at[0] < least(a[0].stride, a[0].out); at[0]++) {
		for (at[1] = 0; at[1] < least(a[1].stride, a[1].out); at[1]++) {
			for (at[2] = 0; at[2] < least(a[2].stride, a[2].out); at[2]++) {
				set_phase(&p, at);
				run_phase(&p, n_images);
			}
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_deconvolution = {"Deconvolution", run,
						    MSD_TAKES_FLOATS_ALONE};
