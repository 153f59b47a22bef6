/* Normalizations: InstanceNorm, LayerNorm and LRN. */
#include <math.h>

#include "graph/op/layer/params.h"
#include "runtime/engine/reference/layer/moments.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

/* Elements that are normalized by those of the channels around theirs. */
struct channels {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	size_t n, plane;
	size_t before, after; /* channels on either side */
	double k, alpha, beta;
};

/* @n elements of plane @row from @first on. */
static void run_block(const struct channels *p, size_t row, size_t first, size_t n)
{
	const size_t k = row % p->n;
	const size_t from = k > p->before ? k - p->before : 0;
	const size_t to = k + p->after < p->n ? k + p->after + 1 : p->n;
	double sums[MSD_ROW_BLOCK] = {0};
	double v[MSD_ROW_BLOCK];

	for (size_t i = from; i < to; i++) {
		const size_t at = (row - k + i) * p->plane + first;

		msd_row_load(p->dtype, p->c->in[0], (int64_t)at, 1, n, v);
		for (size_t j = 0; j < n; j++)
			sums[j] += v[j] * v[j];
	}
	msd_row_load(p->dtype, p->c->in[0], (int64_t)(row * p->plane + first), 1, n, v);
	for (size_t j = 0; j < n; j++)
		v[j] *= pow(p->k + p->alpha * sums[j], -p->beta);
	msd_row_store(p->dtype, p->c->out[0], row * p->plane + first, n, v);
}

static void run_channels(const void *ctx, size_t first, size_t count)
{
	const struct channels *p = ctx;

	for (size_t row = first; row < first + count; row++) {
		for (size_t i = 0, n; i < p->plane; i += n) {
			n = p->plane - i < MSD_ROW_BLOCK ? p->plane - i : MSD_ROW_BLOCK;
			run_block(p, row, i, n);
		}
	}
}

static msd_err run_lrn(const struct msd_kernel_call *c, struct msd_diag *d)
{
	enum { LRN_NS = 30 }; /* of an element */
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const int64_t size = msd_params_lrn(c->node).local_size;
	/* In ONNX the larger half of an even window is after the channel. */
	const int64_t before = msd_params_lrn(c->node).is_onnx != 0 ? size - 1 : size;
	const struct channels p = {
		.c = c,
		.dtype = msd_kernel_in_dtype(c, 0),
		.n = (size_t)dims[1],
		.plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1),
		.before = (size_t)before / 2,
		.after = (size_t)size / 2,
		.k = (double)msd_params_lrn(c->node).k,
		.alpha = (double)msd_params_lrn(c->node).alpha / (double)size,
		.beta = (double)msd_params_lrn(c->node).beta,
	};

	if (msd_params_lrn(c->node).norm_region != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "LRN within a channel cannot be run");
	}
	msd_ranges_each((size_t)dims[0] * p.n, LRN_NS * p.plane, run_channels, &p);
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
		.eps = (double)msd_params_instance_norm(c->node).eps,
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
	const size_t axis = msd_kernel_axis(msd_params_layer_norm(c->node).axis, ndim);
	const size_t outer = msd_kernel_outer(dims, axis);
	const struct rows p = {
		.c = c,
		.dtype = msd_kernel_in_dtype(c, 0),
		.n = msd_kernel_outer(dims, ndim) / (outer > 0 ? outer : 1),
		.eps = (double)msd_params_layer_norm(c->node).eps,
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
