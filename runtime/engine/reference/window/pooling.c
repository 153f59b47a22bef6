/* Pooling: the maximum, mean or norm of a window. */
#include <math.h>

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

struct found {
	double sum;
	double most;
	int64_t at; /* index of the maximum in its plane */
};

static struct found look(const struct pool *p, size_t plane, const struct stretch *s)
{
	struct found f = {.most = p->lowest};

	for (int64_t a = 0; a < s[DEPTH].n; a++) {
		for (int64_t b = 0; b < s[HEIGHT].n; b++) {
			const int64_t row = (s[DEPTH].from + a * s[DEPTH].step) *
						    p->axes[HEIGHT].in +
					    s[HEIGHT].from + b * s[HEIGHT].step;

			for (int64_t c = 0; c < s[WIDTH].n; c++) {
				const int64_t at = row * p->axes[WIDTH].in +
						   s[WIDTH].from + c * s[WIDTH].step;

				const double v =
					msd_row_at(p->dtype, p->x, plane + (size_t)at);

				f.sum += p->power > 0 ? pow(fabs(v), p->power) : v;
				if (v > f.most) {
					f.most = v;
					f.at = at;
				}
			}
		}
	}
	return f;
}

/* The column-major index of an element of a plane. */
static int64_t column_first(const struct pool *p, int64_t at)
{
	const int64_t w = at % p->axes[WIDTH].in;
	const int64_t h = at / p->axes[WIDTH].in % p->axes[HEIGHT].in;
	const int64_t d = at / p->axes[WIDTH].in / p->axes[HEIGHT].in;

	return (w * p->axes[HEIGHT].in + h) * p->axes[DEPTH].in + d;
}

static double mean(const struct pool *p, const struct found *f, const struct stretch *s)
{
	int64_t n = 1;

	for (size_t i = 0; i < MSD_OP_AXES; i++)
		n *= p->counts_padding ? s[i].counted : s[i].n;
	return n > 0 ? f->sum / (double)n : 0;
}

static double value(const struct pool *p, const struct found *f,
		    const struct stretch *s)
{
	if (p->power > 0)
		return pow(f->sum, 1 / p->power);
	return p->is_mean ? mean(p, f, s) : f->most;
}

static void run_plane(const void *ctx, size_t part)
{
	const struct pool *p = ctx;
	const struct msd_op_window *a = p->axes;

	for (size_t i = 0; i < p->out_plane; i++) {
		const struct stretch s[MSD_OP_AXES] = {
			stretch_of(&a[DEPTH],
				   (int64_t)i / a[WIDTH].out / a[HEIGHT].out),
			stretch_of(&a[HEIGHT],
				   (int64_t)i / a[WIDTH].out % a[HEIGHT].out),
			stretch_of(&a[WIDTH], (int64_t)i % a[WIDTH].out),
		};
		const struct found f = look(p, part * p->in_plane, s);
		const size_t to = part * p->out_plane + i;

		msd_row_put(p->dtype, p->y, to, value(p, &f, s));
		if (p->indices != NULL) {
			p->indices[to] =
				(int64_t)(part * p->in_plane) +
				(p->is_column_first ? column_first(p, f.at) : f.at);
		}
	}
}

static double lowest_of(struct msd_dtype dtype)
{
	const union msd_number v = msd_number_lowest(dtype);

	return msd_number_kind(dtype) == MSD_N_FLOAT ? v.f : (double)v.i;
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const int64_t flavor = msd_kernel_int(call, "caffe_flavor");
	const int64_t *in = msd_kernel_in_dims(call, 0);
	struct pool p = {
		.dtype = msd_kernel_in_dtype(call, 0),
		.x = call->in[0],
		.y = call->out[0],
		.in_plane = 1,
		.out_plane = 1,
		.is_mean = msd_kernel_int(call, "alg") == 1,
		.power = msd_kernel_int(call, "alg") == 2
				 ? (double)msd_kernel_int(call, "p")
				 : 0,
		.counts_padding = (flavor & 0x10) != 0 || (flavor & 0xf) == 1,
		.is_column_first = msd_kernel_int(call, "storage_order") != 0,
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
	if (p.out_plane > 0)
		msd_kernel_each((size_t)(in[0] * in[1]), run_plane, &p);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_pooling = {"Pooling", run, MSD_TAKES_NUMBERS};
