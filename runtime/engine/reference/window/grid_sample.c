/* GridSample: each output position is a weighted sum over input positions along each
 * axis; a grid selects the positions. */
#include <math.h>
#include <string.h>

#include "graph/op/window/params.h"
#include "runtime/kernel/kernels.h"

#define MAX_TAPS 4
#define MAX_AXES 3

/* Taps on one axis. */
struct taps {
	int64_t at[MAX_TAPS]; /* -1: outside, counts as 0 */
	double weight[MAX_TAPS];
};

enum mode { NEAREST, LINEAR, CUBIC };
enum padding { ZEROS, BORDER, REFLECTION };

struct grid {
	const struct msd_kernel_call *c;
	enum mode mode;
	enum padding padding;
	bool is_aligned; /* -1 and 1 are the centres of the first and last element */
	size_t n_axes;
	size_t n_taps;     /* per axis */
	const int64_t *in; /* extents of the input */
	size_t in_plane;
	size_t out_plane;
	size_t channels;
};

static int64_t clamp(int64_t i, int64_t n)
{
	return i < 0 ? 0 : i >= n ? n - 1 : i;
}

/* Reflect @x at both ends of the axis until it is inside. */
static double reflect(const struct grid *g, double x, int64_t n)
{
	const double low = g->is_aligned ? 0 : -0.5;
	const double span = g->is_aligned ? (double)(n - 1) : (double)n;
	const double beyond = x < low ? low - x : x - low - span;

	if (!(beyond > 0) || !(span > 0) || isinf(beyond))
		return x < low || x > low + span ? low : x;
	const double rest = fmod(beyond, span);
	const bool is_even = fmod(floor(beyond / span), 2) == 0;
	return (x < low) == is_even ? low + rest : low + span - rest;
}

/* The element for position @i of @n. */
static int64_t element(const struct grid *g, double i, int64_t n)
{
	if (isnan(i))
		return -1;
	if (g->padding == REFLECTION)
		return clamp((int64_t)reflect(g, i, n), n);
	if (i >= 0 && i < (double)n)
		return (int64_t)i;
	if (g->padding == ZEROS)
		return -1;
	return i < 0 ? 0 : n - 1;
}

/* The weight of a neighbour at distance @x. */
static double cubic(double x)
{
	const double a = -0.75;

	x = fabs(x);
	if (x <= 1)
		return (a + 2) * x * x * x - (a + 3) * x * x + 1;
	return x < 2 ? a * x * x * x - 5 * a * x * x + 8 * a * x - 4 * a : 0;
}

/* Position of coordinate @v, from -1 to 1, on an axis of @n. */
static double place_of(const struct grid *g, double v, int64_t n)
{
	const double low = g->is_aligned ? 0 : -0.5;
	const double span = g->is_aligned ? (double)(n - 1) : (double)n;
	const double x = low + (v + 1) / 2 * span;
	const double at = g->mode == NEAREST ? rint(x) : x;

	/* The cubic mode keeps the position unreflected; its neighbours are mapped
	 * inside. */
	if (g->mode == CUBIC || !(at < low || at > low + span))
		return at;
	if (g->padding == BORDER)
		return at < 0 ? 0 : (double)(n - 1);
	return g->padding == REFLECTION ? reflect(g, at, n) : at;
}

static struct taps taps_of(const struct grid *g, double v, int64_t n)
{
	const double x = place_of(g, v, n);
	const double first = floor(x) - (g->mode == CUBIC ? 1 : 0);
	struct taps t = {0};

	for (size_t k = 0; k < g->n_taps; k++) {
		const double at = g->mode == NEAREST ? x : first + (double)k;

		t.at[k] = element(g, at, n);
		t.weight[k] = g->mode == NEAREST  ? 1
			      : g->mode == LINEAR ? 1 - fabs(x - at)
						  : cubic(x - at);
	}
	return t;
}

static double sum_of(const struct grid *g, size_t plane, const struct taps *axes)
{
	size_t n = 1;
	double sum = 0;

	for (size_t a = 0; a < g->n_axes; a++)
		n *= g->n_taps;
	for (size_t i = 0; i < n; i++) {
		size_t rest = i;
		double weight = 1;
		int64_t at = 0;

		for (size_t a = g->n_axes; a > 0 && at >= 0; a--) {
			const int64_t k = axes[a - 1].at[rest % g->n_taps];
			const int64_t step = g->n_axes - a == 0   ? 1
					     : g->n_axes - a == 1 ? g->in[g->n_axes - 1]
								  : g->in[1] * g->in[2];

			weight *= axes[a - 1].weight[rest % g->n_taps];
			at = k < 0 ? -1 : at + k * step;
			rest /= g->n_taps;
		}
		if (at >= 0) {
			sum += weight *
			       msd_kernel_get(g->c, 0,
					      plane * g->in_plane + (size_t)at);
		}
	}
	return sum;
}

/* Process one image: all of its channels use the same positions. */
static void run_image(const void *ctx, size_t image)
{
	const struct grid *g = ctx;

	for (size_t i = 0; i < g->out_plane; i++) {
		const size_t from = (image * g->out_plane + i) * g->n_axes;
		struct taps axes[MAX_AXES];

		for (size_t a = 0; a < g->n_axes;
		     a++) { /* the grid stores the last axis first */
			axes[a] = taps_of(
				g, msd_kernel_get(g->c, 1, from + g->n_axes - 1 - a),
				g->in[a]);
		}
		for (size_t k = 0; k < g->channels; k++) {
			const size_t plane = image * g->channels + k;

			msd_kernel_put(g->c, 0, plane * g->out_plane + i,
				       sum_of(g, plane, axes));
		}
	}
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_grid_sample p = msd_params_grid_sample(c->node);
	const char *mode = p.mode;
	const char *padding = p.padding_mode;
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	struct grid g = {
		.c = c,
		.mode = strcmp(mode, "nearest") == 0    ? NEAREST
			: strcmp(mode, "bilinear") == 0 ? LINEAR
							: CUBIC,
		.padding = strcmp(padding, "zeros") == 0    ? ZEROS
			   : strcmp(padding, "border") == 0 ? BORDER
							    : REFLECTION,
		.is_aligned = p.align_corners != 0,
		.n_axes = ndim - 2,
		.in = dims + 2,
		.in_plane = msd_kernel_inner(dims, ndim, 1),
		.out_plane = msd_kernel_inner(msd_kernel_out_dims(c, 0), ndim, 1),
		.channels = (size_t)dims[1],
	};

	(void)d;
	g.n_taps = g.mode == NEAREST ? 1 : g.mode == LINEAR ? 2 : 4;
	msd_kernel_each((size_t)dims[0], 20 * g.channels * g.out_plane, run_image, &g);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_grid_sample = {"GridSample", run,
						  MSD_TAKES_FLOATS_ALONE};
