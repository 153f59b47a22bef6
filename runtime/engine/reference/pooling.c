/* Pooling: the largest or the mean of a window. */
#include <math.h>

#include "graph/op/window.h"
#include "runtime/engine/kernels.h"

struct pool {
	const float *x;
	float *y;
	const int64_t *in; /* n, c, h, w */
	const int64_t *out;
	struct msd_op_window h;
	struct msd_op_window w;
	bool is_mean;
	bool counts_padding;
};

/* Where a window begins and ends on one axis. */
struct stretch {
	int64_t from;
	int64_t to;
	int64_t counted; /* with the padding in it */
};

static struct stretch stretch_of(const struct msd_op_window *w, int64_t o, int64_t in)
{
	const int64_t from = o * w->stride - w->before;
	int64_t to = from + w->kernel;
	struct stretch s = {from < 0 ? 0 : from, 0, 0};

	to = to > in + w->after ? in + w->after : to;
	s.counted = to - from;
	s.to = to > in ? in : to;
	return s;
}

static float pool_window(const struct pool *p, const float *x, struct stretch h,
			 struct stretch w)
{
	const int64_t n = p->counts_padding ? h.counted * w.counted
					    : (h.to - h.from) * (w.to - w.from);
	double sum = 0;
	float most = -INFINITY;

	for (int64_t ih = h.from; ih < h.to; ih++) {
		for (int64_t iw = w.from; iw < w.to; iw++) {
			const float v = x[ih * p->in[3] + iw];

			sum += (double)v;
			most = v > most ? v : most;
		}
	}
	if (p->is_mean)
		return n > 0 ? (float)(sum / (double)n) : 0;
	return most;
}

static void run_plane(const void *ctx, size_t part)
{
	const struct pool *p = ctx;
	const float *x = p->x + part * (size_t)(p->in[2] * p->in[3]);
	float *y = p->y + part * (size_t)(p->out[2] * p->out[3]);

	for (int64_t oh = 0; oh < p->out[2]; oh++) {
		for (int64_t ow = 0; ow < p->out[3]; ow++) {
			*y++ = pool_window(p, x, stretch_of(&p->h, oh, p->in[2]),
					   stretch_of(&p->w, ow, p->in[3]));
		}
	}
}

static msd_err run(const struct msd_kernel_call *call, struct msd_diag *d)
{
	const int64_t flavor = msd_kernel_int(call, "caffe_flavor");
	struct pool p = {
		.x = call->in[0],
		.y = call->out[0],
		.in = msd_kernel_in_dims(call, 0),
		.out = msd_kernel_out_dims(call, 0),
		.is_mean = msd_kernel_int(call, "alg") == 1,
		.counts_padding = (flavor & 0x10) != 0 || (flavor & 0xf) == 1,
	};

	(void)d;
	msd_op_pool_windows(call->node, &p.h, &p.w);
	msd_kernel_each((size_t)(p.out[0] * p.out[1]), run_plane, &p);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_pooling = {"Pooling", run};
