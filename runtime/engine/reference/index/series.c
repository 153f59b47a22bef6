/* Range, CumSum and ReverseSequence: operators along one axis. */
#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

static msd_err run_range(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const bool is_float = msd_number_kind(dtype) == MSD_N_FLOAT;
	const union msd_number first = msd_number_load(dtype, c->in[0], 0);
	const union msd_number step = msd_number_load(dtype, c->in[2], 0);
	const int64_t n = (int64_t)msd_kernel_out_elements(c, 0);

	(void)d;
	for (int64_t i = 0; i < n; i++) {
		if (is_float) {
			msd_number_store_float(dtype, c->out[0], i,
					       first.f + (double)i * step.f);
		} else {
			msd_number_store(dtype, c->out[0], i, first.i + i * step.i);
		}
	}
	return MSD_OK;
}

/* One row along the axis; integers wrap. */
struct line {
	struct msd_dtype dtype;
	int64_t n;
	int64_t step;
	bool is_exclusive;
	bool is_reverse;
	bool is_product;
};

static int64_t place_of(const struct line *l, int64_t from, int64_t k)
{
	return from + (l->is_reverse ? l->n - 1 - k : k) * l->step;
}

static void run_floats(const struct line *l, const void *x, void *y, int64_t from)
{
	double sum = l->is_product ? 1 : 0;

	for (int64_t k = 0; k < l->n; k++) {
		const int64_t at = place_of(l, from, k);
		const double v = msd_number_load(l->dtype, x, at).f;
		const double after = l->is_product ? sum * v : sum + v;

		msd_number_store_float(l->dtype, y, at, l->is_exclusive ? sum : after);
		sum = after;
	}
}

static void run_integers(const struct line *l, const void *x, void *y, int64_t from)
{
	uint64_t sum = l->is_product ? 1 : 0;

	for (int64_t k = 0; k < l->n; k++) {
		const int64_t at = place_of(l, from, k);
		const uint64_t v = (uint64_t)msd_number_load(l->dtype, x, at).i;
		const uint64_t after = l->is_product ? sum * v : sum + v;

		msd_number_store(l->dtype, y, at,
				 (int64_t)(l->is_exclusive ? sum : after));
		sum = after;
	}
}

static void run_line(const struct line *l, const void *x, void *y, int64_t from)
{
	if (msd_number_kind(l->dtype) == MSD_N_FLOAT) {
		run_floats(l, x, y, from);
	} else {
		run_integers(l, x, y, from);
	}
}

static msd_err run_cum_sum(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_params_cum_sum p = msd_params_cum_sum(c->node);
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	int64_t axis;
	const msd_err err = msd_kernel_index(c, 1, 0, (int64_t)ndim, &axis, d);

	if (err != MSD_OK)
		return err;
	const size_t inner = msd_kernel_inner(dims, ndim, (size_t)axis);
	const size_t outer = msd_kernel_outer(dims, (size_t)axis);
	const struct line l = {.dtype = msd_kernel_in_dtype(c, 0),
			       .n = dims[axis],
			       .step = (int64_t)inner,
			       .is_exclusive = p.exclusive != 0,
			       .is_reverse = p.reverse != 0,
			       .is_product = p.product != 0};
	for (size_t o = 0; o < outer; o++) {
		for (size_t i = 0; i < inner; i++) {
			run_line(&l, c->in[0], c->out[0],
				 (int64_t)(o * (size_t)l.n * inner + i));
		}
	}
	return MSD_OK;
}

/* For each batch entry, reverse the first elements in time, as many as its length. */
static msd_err run_reverse_sequence(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *dims = msd_kernel_in_dims(c, 0);
	const bool is_time_first = msd_params_reverse_sequence(c->node).time_axis == 0;
	const int64_t batches = dims[is_time_first ? 1 : 0];
	const int64_t times = dims[is_time_first ? 0 : 1];
	const size_t row = msd_kernel_inner(dims, msd_kernel_in_ndim(c, 0), 1) *
			   msd_kernel_size(c);
	const int64_t step_time = is_time_first ? batches : 1;
	const int64_t step_batch = is_time_first ? 1 : times;

	for (int64_t b = 0; b < batches && row > 0; b++) {
		int64_t n;
		const msd_err err = msd_kernel_index(c, 1, b, times + 1, &n, d);

		if (err != MSD_OK)
			return err;
		for (int64_t t = 0; t < times; t++) {
			const int64_t from = t < n ? n - 1 - t : t;
			const int64_t to = b * step_batch + t * step_time;

			memcpy((uint8_t *)c->out[0] + (size_t)to * row,
			       (const uint8_t *)c->in[0] +
				       (size_t)(b * step_batch + from * step_time) *
					       row,
			       row);
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_range = {"Range", run_range, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_cum_sum = {"CumSum", run_cum_sum, MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_reverse_sequence = {
	"ReverseSequence", run_reverse_sequence, MSD_TAKES_BYTES};
