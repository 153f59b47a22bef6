/* Pooling: the maximum, mean or norm of a window. */
#include <math.h>

#include "graph/op/window/params.h"
#include "graph/op/window/window.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

enum { DEPTH, HEIGHT, WIDTH };

struct pool {
	struct msd_dtype dtype;
	const void *x;
	void *y;
	int64_t *indices; /* NULL: the indices are not requested */
	struct msd_op_window axes[MSD_OP_AXES];
	double lowest; /* initial value of the maximum */
	size_t in_plane;
	size_t out_plane;
	bool is_mean;
	double power; /* exponent of the norm; 0: no norm */
	bool counts_padding;
	bool is_column_first;
};

/* Input positions of a window on one axis: @n positions from @from, @step apart. */
struct stretch {
	int64_t from;
	int64_t n;
	int64_t step;
	int64_t counted; /* includes the padding */
};

/* Number of the positions @first, @first + @step, ... before @end; at most @most. */
static int64_t count_before(int64_t first, int64_t step, int64_t end, int64_t most)
{
	const int64_t n = first < end ? (end - first + step - 1) / step : 0;

	return n < most ? n : most;
}

/* A kernel may be far larger than its input, so this does not iterate over it. */
static struct stretch stretch_of(const struct msd_op_window *w, int64_t o)
{
	const int64_t first = o * w->stride - w->before;
	const int64_t skipped = count_before(first, w->dilation, 0, w->kernel);

	return (struct stretch){
		.from = first + skipped * w->dilation,
		.n = count_before(first, w->dilation, w->in, w->kernel) - skipped,
		.step = w->dilation,
		.counted =
			count_before(first, w->dilation, w->in + w->after, w->kernel),
	};
}

/* Neighbouring output positions of a row, and what was found in their windows. */
enum { POSITIONS = 64 };

struct found {
	int64_t first; /* position in the row */
	int64_t n;
	double v[POSITIONS];   /* sums or maxima */
	int64_t at[POSITIONS]; /* indices of the maxima in their plane */
};

static void add_powers(const double *x, double power, int64_t n, double *sums)
{
	for (int64_t i = 0; i < n; i++)
		sums[i] += pow(fabs(x[i]), power);
}

/* Combine elements @step apart with the results of positions @to and on. */
static void take(const struct pool *p, size_t plane, int64_t at, int64_t step,
		 int64_t to, int64_t n, struct found *f)
{
	double x[POSITIONS];
	double *v = f->v + to;

	msd_row_load(p->dtype, p->x, (int64_t)plane + at, step, (size_t)n, x);
	if (p->power > 0) {
		add_powers(x, p->power, n, v);
	} else if (p->is_mean) {
		for (int64_t i = 0; i < n; i++)
			v[i] += x[i];
	} else if (p->indices == NULL) {
		for (int64_t i = 0; i < n; i++)
			v[i] = x[i] > v[i] ? x[i] : v[i];
	} else {
		for (int64_t i = 0; i < n; i++) {
			f->at[to + i] = x[i] > v[i] ? at + i * step : f->at[to + i];
			v[i] = x[i] > v[i] ? x[i] : v[i];
		}
	}
}

/* The next elements of one window, in their order. */
static void take_along(const struct pool *p, size_t plane, int64_t row,
		       const struct stretch *s, int64_t to, struct found *f)
{
	double x[MSD_ROW_BLOCK];
	double v = f->v[to];

	for (int64_t k = 0, n; k < s->n; k += n) {
		n = s->n - k < MSD_ROW_BLOCK ? s->n - k : MSD_ROW_BLOCK;
		const int64_t at = row + s->from + k * s->step;

		msd_row_load(p->dtype, p->x, (int64_t)plane + at, s->step, (size_t)n,
			     x);
		for (int64_t i = 0; i < n; i++) {
			if (p->power > 0) {
				v += pow(fabs(x[i]), p->power);
			} else if (p->is_mean) {
				v += x[i];
			} else if (x[i] > v) {
				v = x[i];
				f->at[to] = at + i * s->step;
			}
		}
	}
	f->v[to] = v;
}

/*
 * One row of the input: each tap for all positions whose window has it there. Few
 * positions with long windows take their elements one window after the other.
 */
static void take_row(const struct pool *p, size_t plane, int64_t row, struct found *f)
{
	const struct msd_op_window *w = &p->axes[WIDTH];

	if (f->n < 4) {
		for (int64_t i = 0; i < f->n; i++) {
			const struct stretch s = stretch_of(w, f->first + i);

			take_along(p, plane, row, &s, i, f);
		}
		return;
	}
	/* Leave out the taps that are before the input for all positions. */
	const int64_t reached = f->first * w->stride - w->before;
	const int64_t missing = -reached - (f->n - 1) * w->stride;
	const int64_t first = missing > 0 ? (missing - 1) / w->dilation : 0;
	for (int64_t k = first; k < w->kernel; k++) {
		const int64_t x = reached + k * w->dilation;
		const int64_t skipped = count_before(x, w->stride, 0, f->n);
		const int64_t n = count_before(x, w->stride, w->in, f->n) - skipped;

		if (x >= w->in)
			break;
		if (n > 0) {
			take(p, plane, row + x + skipped * w->stride, w->stride,
			     skipped, n, f);
		}
	}
}

/* The column-major index of an element of a plane. */
static int64_t column_first(const struct pool *p, int64_t at)
{
	const int64_t w = at % p->axes[WIDTH].in;
	const int64_t h = at / p->axes[WIDTH].in % p->axes[HEIGHT].in;
	const int64_t d = at / p->axes[WIDTH].in / p->axes[HEIGHT].in;

	return (w * p->axes[HEIGHT].in + h) * p->axes[DEPTH].in + d;
}

/* Replace sums by results; @s: the windows' depth and height. */
static void finish(const struct pool *p, const struct stretch *s, struct found *f)
{
	const int64_t planes = p->counts_padding ? s[DEPTH].counted * s[HEIGHT].counted
						 : s[DEPTH].n * s[HEIGHT].n;

	for (int64_t i = 0; p->power > 0 && i < f->n; i++)
		f->v[i] = pow(f->v[i], 1 / p->power);
	for (int64_t i = 0; p->power == 0 && p->is_mean && i < f->n; i++) {
		const struct stretch w = stretch_of(&p->axes[WIDTH], f->first + i);
		const int64_t n = planes * (p->counts_padding ? w.counted : w.n);

		f->v[i] = n > 0 ? f->v[i] / (double)n : 0;
	}
}

static void put(const struct pool *p, size_t part, size_t row, const struct found *f)
{
	const size_t to = part * p->out_plane + row * (size_t)p->axes[WIDTH].out +
			  (size_t)f->first;

	msd_row_store(p->dtype, p->y, to, (size_t)f->n, f->v);
	for (int64_t i = 0; p->indices != NULL && i < f->n; i++) {
		p->indices[to + (size_t)i] =
			(int64_t)(part * p->in_plane) +
			(p->is_column_first ? column_first(p, f->at[i]) : f->at[i]);
	}
}

/* The results of row @row of an output plane, from position @first on. */
static void run_positions(const struct pool *p, size_t part, size_t row, int64_t first)
{
	const struct msd_op_window *a = p->axes;
	const struct stretch s[] = {
		stretch_of(&a[DEPTH], (int64_t)row / a[HEIGHT].out),
		stretch_of(&a[HEIGHT], (int64_t)row % a[HEIGHT].out),
	};
	const int64_t left = a[WIDTH].out - first;
	struct found f = {.first = first, .n = left < POSITIONS ? left : POSITIONS};

	for (int64_t i = 0; i < f.n; i++)
		f.v[i] = p->is_mean || p->power > 0 ? 0 : p->lowest;
	for (int64_t d = 0; d < s[DEPTH].n; d++) {
		for (int64_t h = 0; h < s[HEIGHT].n; h++) {
			const int64_t at =
				(s[DEPTH].from + d * s[DEPTH].step) * a[HEIGHT].in +
				s[HEIGHT].from + h * s[HEIGHT].step;

			take_row(p, part * p->in_plane, at * a[WIDTH].in, &f);
		}
	}
	finish(p, s, &f);
	put(p, part, row, &f);
}

static void run_plane(const void *ctx, size_t part)
{
	const struct pool *p = ctx;
	const int64_t width = p->axes[WIDTH].out;

	for (size_t row = 0; row < p->out_plane / (size_t)width; row++) {
		for (int64_t first = 0; first < width; first += POSITIONS)
			run_positions(p, part, row, first);
	}
}

static double lowest_of(struct msd_dtype dtype)
{
	const union msd_number v = msd_number_lowest(dtype);

	return msd_number_kind(dtype) == MSD_N_FLOAT ? v.f : (double)v.i;
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const int64_t flavor = msd_params_pooling(call->node).caffe_flavor;
	const int64_t *in = msd_kernel_in_dims(call, 0);
	struct pool p = {
		.dtype = msd_kernel_in_dtype(call, 0),
		.x = call->in[0],
		.y = call->out[0],
		.in_plane = 1,
		.out_plane = 1,
		.is_mean = msd_params_pooling(call->node).alg == 1,
		.power = msd_params_pooling(call->node).alg == 2
				 ? (double)msd_params_pooling(call->node).p
				 : 0,
		.counts_padding = (flavor & 0x10) != 0 || (flavor & 0xf) == 1,
		.is_column_first = msd_params_pooling(call->node).storage_order != 0,
	};

	(void)d;
	p.lowest = lowest_of(p.dtype);
	if (modser_sg_node_output(call->node, 1) != NULL)
		p.indices = call->out[1];
	msd_op_pool_windows(call->node, p.axes);
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		p.in_plane *= (size_t)p.axes[i].in;
		p.out_plane *= (size_t)p.axes[i].out;
	}
	if (p.out_plane > 0) {
		msd_kernel_each((size_t)(in[0] * in[1]), 4 * (p.in_plane + p.out_plane),
				run_plane, &p);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_pooling = {"Pooling", run, MSD_TAKES_NUMBERS};
