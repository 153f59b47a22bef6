/*
 * BatchNormalization: normalises each channel by a given mean and variance or, in
 * training, by those of the call's own elements; then the running values are updated.
 */
#include <math.h>
#include <stdlib.h>

#include "graph/op/layer/params.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

enum { SCALE = 1, SHIFT, MEAN, VARIANCE }; /* inputs, one element per channel */

/* Layout of a channel's elements in a tensor: planes with a stride of @step. */
struct channels {
	size_t n;
	size_t plane;
	size_t n_planes; /* per channel */
	size_t step;
};

static struct channels channels_of(const struct msd_kernel_call *c)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t plane = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1);
	const size_t n = (size_t)dims[1];

	return (struct channels){n, plane, (size_t)dims[0], n * plane};
}

/* Given mean and variance of channel @k. */
static void moments_given(const struct msd_kernel_call *c, size_t k, double *ret_mean,
			  double *ret_variance)
{
	const double factor =
		(double)msd_params_batch_normalization(c->node).rescale_factor;
	const double rescale = factor != 0 ? 1 / factor : 0;

	*ret_mean = msd_kernel_get(c, MEAN, k) * rescale;
	*ret_variance = msd_kernel_get(c, VARIANCE, k) * rescale;
}

static void moments_of(const struct msd_kernel_call *c, const struct channels *ch,
		       size_t k, double *ret_mean, double *ret_variance)
{
	const double n = (double)(ch->n_planes * ch->plane);
	double sum = 0;
	double squares = 0;

	for (size_t p = 0; p < ch->n_planes; p++) {
		for (size_t i = 0; i < ch->plane; i++) {
			sum += msd_kernel_get(c, 0, p * ch->step + k * ch->plane + i);
		}
	}
	for (size_t p = 0; p < ch->n_planes; p++) {
		for (size_t i = 0; i < ch->plane; i++) {
			const size_t at = p * ch->step + k * ch->plane + i;
			const double v = msd_kernel_get(c, 0, at) - sum / n;

			squares += v * v;
		}
	}
	*ret_mean = sum / n;
	*ret_variance = squares / n;
}

/* Write the running value, updated with that of the call, to output @i - 2. */
static void put_moved(const struct msd_kernel_call *c, size_t i, size_t k, double now)
{
	const size_t out = i - 2;
	const double momentum =
		(double)msd_params_batch_normalization(c->node).momentum;

	if (out < modser_sg_node_output_count(c->node) && c->out[out] != NULL) {
		msd_kernel_put(c, out, k,
			       msd_kernel_get(c, i, k) * momentum +
				       now * (1 - momentum));
	}
}

/* One element per channel of each. */
struct terms {
	double *mean;
	double *deviation;
	double *scale;
	double *shift;
};

struct norm {
	const struct msd_kernel_call *c;
	struct msd_dtype dtype;
	struct channels ch;
	struct terms terms;
};

static void find_terms(const struct norm *p)
{
	const struct msd_kernel_call *c = p->c;
	const bool is_training =
		msd_params_batch_normalization(c->node).training_mode != 0;
	const double eps = (double)msd_params_batch_normalization(c->node).eps;

	for (size_t k = 0; k < p->ch.n; k++) {
		double variance;

		if (is_training) {
			moments_of(c, &p->ch, k, &p->terms.mean[k], &variance);
			put_moved(c, MEAN, k, p->terms.mean[k]);
			put_moved(c, VARIANCE, k, variance);
		} else {
			moments_given(c, k, &p->terms.mean[k], &variance);
		}
		p->terms.deviation[k] = sqrt(variance + eps);
		p->terms.scale[k] = msd_kernel_get(c, SCALE, k);
		p->terms.shift[k] = msd_kernel_get(c, SHIFT, k);
	}
}

/* @step 0: all elements have the terms of channel @k; 1: those of the next channels. */
static inline __attribute__((always_inline)) void
normalize(const struct terms *t, size_t k, const size_t step, double *v, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const double from_mean = v[i] - t->mean[k + i * step];

		v[i] = from_mean / t->deviation[k + i * step] * t->scale[k + i * step] +
		       t->shift[k + i * step];
	}
}

/* Planes of one element each are one row of all channels. */
static void run_rows(const void *ctx, size_t first, size_t count)
{
	const struct norm *p = ctx;
	const bool is_flat = p->ch.plane == 1;
	const size_t length = is_flat ? p->ch.n : p->ch.plane;
	double v[MSD_ROW_BLOCK];

	for (size_t row = first; row < first + count; row++) {
		const size_t k = row % p->ch.n;

		for (size_t at = 0, n; at < length; at += n) {
			n = length - at < MSD_ROW_BLOCK ? length - at : MSD_ROW_BLOCK;
			msd_row_load(p->dtype, p->c->in[0],
				     (int64_t)(row * length + at), 1, n, v);
			if (is_flat) {
				normalize(&p->terms, at, 1, v, n);
			} else {
				normalize(&p->terms, k, 0, v, n);
			}
			msd_row_store(p->dtype, p->c->out[0], row * length + at, n, v);
		}
	}
}

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct norm p = {c, msd_kernel_in_dtype(c, 0), channels_of(c), {0}};
	const bool is_flat = p.ch.plane == 1;
	double *terms = calloc(p.ch.n + 1, 4 * sizeof(*terms));

	if (terms == NULL)
		return msd_diag_no_memory(d);
	p.terms = (struct terms){terms, terms + p.ch.n, terms + 2 * p.ch.n,
				 terms + 3 * p.ch.n};
	find_terms(&p);
	msd_ranges_each(is_flat ? p.ch.n_planes : p.ch.n_planes * p.ch.n,
			2 * (is_flat ? p.ch.n : p.ch.plane), run_rows, &p);
	free(terms);
	return MSD_OK;
}

const struct msd_kernel msd_kernel_batch_normalization = {"BatchNormalization", run,
							  MSD_TAKES_FLOATS_ALONE};
