/* Normalizations: InstanceNorm, LayerNorm and LRN. */
#include <math.h>

#include "runtime/engine/reference/layer/moments.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"

/* Sum over the channels around channel @k of the image at @x: @before on one side,
 * @after on the other. */
static double sum_of_squares(const struct msd_kernel_call *c, size_t x, size_t k,
			     size_t channels, size_t plane, size_t before, size_t after)
{
	const size_t from = k > before ? k - before : 0;
	const size_t to = k + after < channels ? k + after + 1 : channels;
	double sum = 0;

	for (size_t i = from; i < to; i++) {
		const double v = msd_kernel_get(c, 0, x + i * plane);

		sum += v * v;
	}
	return sum;
}

static msd_err run_lrn(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t channels = (size_t)dims[1];
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t n = msd_kernel_out_elements(c, 0);
	const int64_t size = msd_kernel_int(c, "local_size");
	const double alpha = (double)msd_kernel_float(c, "alpha") / (double)size;
	/* In ONNX the larger half of an even window is after the channel. */
	const size_t before =
		(size_t)(msd_kernel_int(c, "is_onnx") != 0 ? size - 1 : size) / 2;

	if (msd_kernel_int(c, "norm_region") != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "LRN within a channel cannot be run");
	}
	for (size_t i = 0; i < n; i++) {
		const size_t k = i / plane % channels;
		const size_t x = i / (plane * channels) * plane * channels + i % plane;
		const double sum = sum_of_squares(c, x, k, channels, plane, before,
						  (size_t)size / 2);

		msd_kernel_put(
			c, 0, i,
			msd_kernel_get(c, 0, i) *
				pow((double)msd_kernel_float(c, "k") + alpha * sum,
				    -(double)msd_kernel_float(c, "beta")));
	}
	return MSD_OK;
}

enum { COST_NS = 2 }; /* of an element */

/* Rows of @n elements that are normalized each by itself. */
struct rows {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t n;
	size_t channels; /* of InstanceNorm: one per row */
	double eps;
};

static double part(const struct rows *p, size_t input, size_t i, double otherwise)
{
	return msd_kernel_has(p->c, input) ? msd_kernel_get(p->c, input, i) : otherwise;
}

static void run_instances(const void *ctx, size_t first, size_t count)
{
	const struct rows *p = ctx;
	struct msd_moments m;

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_FOLD_ROWS ? count : MSD_FOLD_ROWS;
		msd_moments_find(p->dtype, p->c->in[0], first * p->n, n, p->n, p->eps,
				 &m);
		for (size_t r = 0; r < n; r++) {
			const size_t k = (first + r) % p->channels;

			const struct msd_moments_terms terms = {m.mean[r], m.inverse[r],
								part(p, 1, k, 1),
								part(p, 2, k, 0)};

			msd_moments_apply(p->dtype, p->c->in[0], p->c->out[0],
					  (first + r) * p->n, p->n, &terms);
		}
	}
}

static msd_err run_instance_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const struct rows p = {
		.c = c,
		.dtype = msd_kernel_in_dtype(c, 0),
		.n = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1),
		.channels = (size_t)dims[1],
		.eps = (double)msd_kernel_float(c, "eps"),
	};

	(void)d;
	msd_ranges_each((size_t)dims[0] * p.channels, p.n * COST_NS, run_instances, &p);
	return MSD_OK;
}

/* Load a block of an input that has one element for each of a row. */
static void load_part(const struct rows *p, size_t input, size_t at, size_t n,
		      double otherwise, double *ret)
{
	if (msd_kernel_has(p->c, input)) {
		msd_row_load(msd_kernel_in_dtype(p->c, input), p->c->in[input],
			     (int64_t)at, 1, n, ret);
		return;
	}
	for (size_t i = 0; i < n; i++)
		ret[i] = otherwise;
}

static void normalize(const struct rows *p, size_t first, size_t n_rows,
		      const struct msd_moments *m)
{
	double scale[MSD_ROW_BLOCK];
	double bias[MSD_ROW_BLOCK];
	double v[MSD_ROW_BLOCK];

	for (size_t at = 0, n; at < p->n; at += n) {
		n = p->n - at < MSD_ROW_BLOCK ? p->n - at : MSD_ROW_BLOCK;
		load_part(p, 1, at, n, 1, scale);
		load_part(p, 2, at, n, 0, bias);
		for (size_t r = 0; r < n_rows; r++) {
			const size_t row = (first + r) * p->n + at;

			msd_row_load(p->dtype, p->c->in[0], (int64_t)row, 1, n, v);
			for (size_t i = 0; i < n; i++) {
				v[i] = (v[i] - m->mean[r]) * m->inverse[r] * scale[i] +
				       bias[i];
			}
			msd_row_store(p->dtype, p->c->out[0], row, n, v);
		}
	}
}

static void run_layers(const void *ctx, size_t first, size_t count)
{
	const struct rows *p = ctx;
	struct msd_moments m;

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_FOLD_ROWS ? count : MSD_FOLD_ROWS;
		msd_moments_find(p->dtype, p->c->in[0], first * p->n, n, p->n, p->eps,
				 &m);
		normalize(p, first, n, &m);
		for (size_t r = 0; r < n; r++) {
			if (modser_sg_node_output(p->c->node, 1) != NULL)
				msd_kernel_put(p->c, 1, first + r, m.mean[r]);
			if (modser_sg_node_output(p->c->node, 2) != NULL)
				msd_kernel_put(p->c, 2, first + r, m.inverse[r]);
		}
	}
}

static msd_err run_layer_norm(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const size_t axis = msd_kernel_axis(msd_kernel_int(c, "axis"), ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	const struct rows p = {
		.c = c,
		.dtype = msd_kernel_in_dtype(c, 0),
		.n = msd_kernel_outer(dims, ndim) / (outer > 0 ? outer : 1),
		.eps = (double)msd_kernel_float(c, "eps"),
	};

	(void)d;
	msd_ranges_each(outer, p.n * COST_NS, run_layers, &p);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_instance_norm = {"InstanceNorm", run_instance_norm,
						    MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_layer_norm = {"LayerNorm", run_layer_norm,
						 MSD_TAKES_FLOATS_ALONE};
const struct msd_kernel msd_kernel_lrn = {"LRN", run_lrn, MSD_TAKES_FLOATS_ALONE};
