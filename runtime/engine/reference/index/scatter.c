/* Scatter and ScatterND: copy the input, then apply the updates in order. */
#include "graph/op/index/scatter.h"

#include <math.h>
#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/engine/reference/index/index.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/walk.h"
#include "runtime/value/element.h"

struct scatter {
	struct msd_dtype dtype;
	enum msd_op_scatter how;
	void *y;
	const void *updates;
};

static double join_floats(enum msd_op_scatter how, double a, double b)
{
	switch (how) {
	case MSD_SCATTER_ADD:
		return a + b;
	case MSD_SCATTER_MUL:
		return a * b;
	case MSD_SCATTER_MAX:
		return a > b || isnan(a) ? a : b;
	case MSD_SCATTER_MIN:
		return a < b || isnan(a) ? a : b;
	case MSD_SCATTER_NONE:
		break;
	}
	return b;
}

/* Sums and products wrap on overflow. */
static int64_t join_integers(const struct scatter *s, union msd_number a,
			     union msd_number b)
{
	const enum msd_number_kind kind = msd_number_kind(s->dtype);
	const bool is_less = msd_number_key(kind, a) < msd_number_key(kind, b);

	switch (s->how) {
	case MSD_SCATTER_ADD:
		return (int64_t)((uint64_t)a.i + (uint64_t)b.i);
	case MSD_SCATTER_MUL:
		return (int64_t)((uint64_t)a.i * (uint64_t)b.i);
	case MSD_SCATTER_MAX:
		return is_less ? b.i : a.i;
	case MSD_SCATTER_MIN:
		return is_less ? a.i : b.i;
	case MSD_SCATTER_NONE:
		break;
	}
	return b.i;
}

/* Copy @n updates from @i on to elements @at and on. */
static void copy(const struct scatter *s, int64_t at, int64_t i, size_t n)
{
	const size_t size = s->dtype.bits / 8u;

	memcpy((uint8_t *)s->y + (size_t)at * size,
	       (const uint8_t *)s->updates + (size_t)i * size, n * size);
}

/* Apply update @i to element @at. */
static void put(const struct scatter *s, int64_t at, int64_t i)
{
	if (s->how == MSD_SCATTER_NONE) {
		copy(s, at, i, 1);
		return;
	}
	const union msd_number a = msd_number_load(s->dtype, s->y, at);
	const union msd_number b = msd_number_load(s->dtype, s->updates, i);
	if (msd_number_kind(s->dtype) == MSD_N_FLOAT) {
		msd_number_store_float(s->dtype, s->y, at,
				       join_floats(s->how, a.f, b.f));
	} else {
		msd_number_store(s->dtype, s->y, at, join_integers(s, a, b));
	}
}

static msd_err begin(const struct msd_kernel_call *c, const char *reduction,
		     struct scatter *ret, struct msd_diag *d)
{
	const size_t bytes = msd_kernel_in_elements(c, 0) * msd_kernel_size(c);

	*ret = (struct scatter){.dtype = msd_kernel_in_dtype(c, 0),
				.y = c->out[0],
				.updates = c->in[2]};
	if (msd_op_scatter_how(c->node, reduction, &ret->how) != 0)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "its reduction cannot be");
	if (ret->how != MSD_SCATTER_NONE && msd_number_kind(ret->dtype) == MSD_N_NONE)
		return msd_diag_set(d, MSD_UNSUPPORTED, "its elements are no numbers");
	if (bytes > 0)
		memcpy(c->out[0], c->in[0], bytes);
	return MSD_OK;
}

static msd_err run_scatter(const struct msd_kernel_call *c, struct msd_diag *d)
{
	struct scatter s;
	struct msd_walk w;
	int64_t step;
	int64_t n;
	int64_t k = 0;
	msd_err err = begin(c, msd_params_scatter(c->node).reduction, &s, d);

	msd_index_walk(c, msd_params_scatter(c->node).axis, &w, &step, &n);
	for (msd_walk_begin(&w); err == MSD_OK && w.row < w.n_rows; msd_walk_next(&w)) {
		for (int64_t i = 0; i < w.n; i++, k++) {
			int64_t at;

			err = msd_kernel_index(c, 1, k, n, &at, d);
			if (err != MSD_OK)
				break;
			put(&s, w.at[0] + i * msd_walk_step(&w, 0) + at * step, k);
		}
	}
	return err;
}

static msd_err run_nd(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t n_indices = msd_kernel_in_ndim(c, 1);
	const size_t wide = (size_t)msd_kernel_in_dims(c, 1)[n_indices - 1];
	const size_t n = msd_kernel_outer(msd_kernel_in_dims(c, 1), n_indices - 1);
	const int64_t row = (int64_t)msd_kernel_outer(msd_kernel_in_dims(c, 0) + wide,
						      msd_kernel_in_ndim(c, 0) - wide);
	struct scatter s;
	msd_err err = begin(c, msd_params_scatter_nd(c->node).reduction, &s, d);

	for (size_t i = 0; i < n && row > 0; i++) {
		int64_t at = 0;

		if (err == MSD_OK)
			err = msd_index_tuple(c, i, 0, &at, d);
		if (err != MSD_OK)
			return err;
		if (s.how == MSD_SCATTER_NONE) {
			copy(&s, at * row, (int64_t)i * row, (size_t)row);
			continue;
		}
		for (int64_t k = 0; k < row; k++)
			put(&s, at * row + k, (int64_t)i * row + k);
	}
	return err;
}

const struct msd_kernel msd_kernel_scatter = {"Scatter", run_scatter, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_scatter_nd = {"ScatterND", run_nd, MSD_TAKES_BYTES};
