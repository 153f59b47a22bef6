/*
 * Pools: the largest element or the mean of a window. A window as large as its plane
 * is a row. Bytes are pooled as floats, one plane after the other; their sums are
 * exact.
 */
#include <math.h>

#include "graph/op/quantized/params.h"
#include "graph/op/quantized/quantize.h"
#include "graph/op/window/params.h"
#include "runtime/engine/native/claim.h"
#include "runtime/engine/native/quantized/operands.h"
#include "runtime/engine/native/select.h"
#include "runtime/engine/native/window.h"
#include "runtime/engine/native/work.h"

enum { MAXIMUM, MEAN };
enum { X, X_SCALE, X_ZERO, Y_SCALE, Y_ZERO }; /* inputs of QuantizedPooling */

/* Numbers of bytes; p is NULL: the elements are floats. */
struct bytes {
	struct msd_native_bytes x; /* with the scale 1 */
	float scale;               /* output, in units of the input */
	struct msd_native_rounding rounding;
	uint8_t *y;
};

struct pool {
	const struct msd_native_kernels *k;
	struct msd_native_window w;
	const float *x;
	float *y;
	const float *counts; /* NULL: maxima */
	float *scratch;
	size_t in_plane, out_plane;
	size_t scratch_floats; /* per thread */
	struct bytes bytes;
};

/* A window that covers its plane. */
static bool is_whole(const struct msd_op_window axes[static MSD_OP_AXES])
{
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		if (axes[i].out != 1 || axes[i].kernel != axes[i].in ||
		    axes[i].before != 0 || axes[i].dilation != 1)
			return false;
	}
	return true;
}

static bool may_pool(const modser_sg_node *node)
{
	const int64_t kind = msd_params_pooling(node).alg;
	struct msd_op_window axes[MSD_OP_AXES];
	int64_t taps = 1;

	if ((kind != MAXIMUM && kind != MEAN) || modser_sg_node_output(node, 1) != NULL)
		return false;
	msd_op_pool_windows(node, axes);
	if (is_whole(axes) && kind == MEAN)
		return true;
	for (size_t i = 0; i < MSD_OP_AXES; i++) {
		if (axes[i].kernel > (int64_t)MSD_NATIVE_TAPS || axes[i].out < 1)
			return false;
		taps *= axes[i].kernel;
	}
	return msd_native_window_fits(axes) && taps <= (int64_t)MSD_NATIVE_TAPS;
}

static bool may(const modser_sg_node *node)
{
	return msd_native_is_single(node, X) && may_pool(node);
}

static bool may_bytes(const modser_sg_node *node)
{
	return msd_native_is_bytes(node, X) && msd_native_is_scale(node, X_SCALE) &&
	       msd_native_is_zero(node, X_ZERO) && msd_native_is_scale(node, Y_SCALE) &&
	       msd_native_is_zero(node, Y_ZERO) && may_pool(node);
}

/* Plane @i as floats, which @room has space for. */
static const float *plane_of(const struct pool *p, size_t i, float *room)
{
	if (p->x != NULL)
		return p->x + i * p->in_plane;
	struct msd_native_bytes x = p->bytes.x;

	x.p += i * p->in_plane;
	p->k->integers->dequantize(&x, p->in_plane, room);
	return room;
}

static void put_bytes(const struct pool *p, const float *values, size_t at, size_t n)
{
	const struct bytes *b = &p->bytes;

	p->k->integers->quantize(values, n, b->scale, b->rounding, b->y + at);
}

static void run_planes(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pool *p = ctx;
	float *plane = p->scratch + thread * p->scratch_floats;
	float *own = plane + p->w.plane + MSD_NATIVE_ROOM; /* of bytes */
	float *values = own + p->in_plane;

	for (size_t i = first; i < end; i++) {
		p->k->pad_plane(&p->w, plane_of(p, i, own), i > first, plane);
		if (p->x != NULL) {
			p->k->pool(&p->w, plane, p->counts, p->y + i * p->out_plane);
		} else {
			p->k->pool(&p->w, plane, p->counts, values);
			put_bytes(p, values, i * p->out_plane, p->out_plane);
		}
	}
}

/* The sum of plane @i. */
static double sum_of(const struct pool *p, size_t i)
{
	if (p->x != NULL) {
		return p->k->reduce(MSD_NATIVE_SUM, p->x + i * p->in_plane,
				    p->in_plane);
	}
	struct msd_native_bytes x = p->bytes.x;

	x.p += i * p->in_plane;
	return (double)msd_native_sum(&x, p->in_plane);
}

static void run_means(const void *ctx, size_t first, size_t end, size_t thread)
{
	const struct pool *p = ctx;

	(void)thread;
	for (size_t i = first; i < end; i++) {
		const float mean = (float)(sum_of(p, i) / (double)p->in_plane);

		if (p->x != NULL) {
			p->y[i] = mean;
		} else {
			put_bytes(p, &mean, i, 1);
		}
	}
}

/* Positions of a window that lie within the plane, or also in the padding. */
static float count(const struct msd_op_window *w, int64_t at, bool counts_padding)
{
	const int64_t first = at * w->stride - w->before;
	int64_t n = 0;

	for (int64_t i = 0; i < w->kernel; i++) {
		const int64_t x = first + i * w->dilation;

		n += counts_padding ? x < w->in + w->after : x >= 0 && x < w->in;
	}
	return (float)n;
}

static void set_counts(const struct msd_op_window axes[static MSD_OP_AXES],
		       bool counts_padding, float *ret)
{
	for (int64_t d = 0; d < axes[0].out; d++) {
		const float depth = count(&axes[0], d, counts_padding);

		for (int64_t h = 0; h < axes[1].out; h++) {
			const float height = count(&axes[1], h, counts_padding);

			for (int64_t w = 0; w < axes[2].out; w++) {
				const float n = depth * height *
						count(&axes[2], w, counts_padding);
				*ret++ = n > 0 ? n : 1;
			}
		}
	}
}

static msd_err run_windows(struct pool *p, size_t n_planes,
			   const struct msd_op_window axes[static MSD_OP_AXES],
			   const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t flavor = msd_params_pooling(c->node).caffe_flavor;
	const bool is_mean = msd_params_pooling(c->node).alg == MEAN;

	msd_native_window_set(axes, &p->w);
	p->w.is_direct = false;
	p->w.plane = msd_native_window_padded(&p->w);
	p->w.fill = is_mean ? 0 : -INFINITY;
	p->scratch_floats = p->w.plane + MSD_NATIVE_ROOM;
	if (p->x == NULL)
		p->scratch_floats += p->in_plane + p->out_plane + MSD_NATIVE_ROOM;
	float *room = msd_native_scratch_take(p->out_plane +
					      msd_native_threads() * p->scratch_floats);
	if (room == NULL)
		return msd_diag_no_memory(d);
	p->scratch = room + p->out_plane;
	p->counts = is_mean ? room : NULL;
	if (is_mean)
		set_counts(axes, (flavor & 0x10) != 0 || (flavor & 0xf) == 1, room);
	msd_native_each(n_planes,
			(double)(p->out_plane * p->w.n_taps) / 8 +
				(double)p->w.plane / 4,
			run_planes, p);
	msd_native_scratch_give(room);
	return MSD_OK;
}

static msd_err run_pool(const struct msd_kernel_call *c, struct pool *p,
			struct msd_diag *d)
{
	const int64_t *x = msd_kernel_in_dims(c, X);
	const size_t ndim = msd_kernel_in_ndim(c, X);
	const size_t n_planes = msd_native_count(x, 0, 2);
	struct msd_op_window axes[MSD_OP_AXES];

	p->k = msd_native_kernels();
	p->in_plane = msd_native_count(x, 2, ndim);
	p->out_plane = msd_native_count(msd_kernel_out_dims(c, 0), 2, ndim);
	msd_op_pool_windows(c->node, axes);
	if (n_planes == 0)
		return MSD_OK;
	if (!is_whole(axes) || msd_params_pooling(c->node).alg != MEAN)
		return run_windows(p, n_planes, axes, c, d);
	msd_native_each(n_planes, (double)p->in_plane / 8 + 20, run_means, p);
	return MSD_OK;
}

static msd_err run(const struct msd_kernel_call *c,
		   const struct msd_native_packed *packed, struct msd_diag *d)
{
	struct pool p = {.x = c->in[X], .y = c->out[0]};

	(void)packed;
	return run_pool(c, &p, d);
}

static msd_err run_bytes(const struct msd_kernel_call *c,
			 const struct msd_native_packed *packed, struct msd_diag *d)
{
	const float x = msd_native_scale_in(c, X_SCALE);
	const float y = msd_native_scale_in(c, Y_SCALE);
	const struct msd_params_quantized_pooling limits =
		msd_params_quantized_pooling(c->node);
	struct pool p = {
		.bytes.x = msd_native_bytes_in(c, X, X_ZERO, 1),
		.bytes.scale = y / x,
		.bytes.rounding =
			msd_native_rounding_of(c, Y_ZERO, limits.low, limits.high, y),
		.bytes.y = c->out[0],
	};

	(void)packed;
	return run_pool(c, &p, d);
}

const struct msd_native_claim msd_native_pooling = {"Pooling", may, NULL, run, 0};
const struct msd_native_claim msd_native_quantized_pooling = {
	MSD_QUANTIZED_POOLING, may_bytes, NULL, run_bytes, 0};
