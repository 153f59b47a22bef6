/* EyeLike, Trilu and OneHot: values that depend only on the position. */
#include <string.h>

#include "graph/op/index/params.h"
#include "runtime/kernel/kernels.h"
#include "runtime/value/element.h"

static msd_err run_eye_like(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype dtype = msd_kernel_out_dtype(c, 0);
	const int64_t *dims = msd_kernel_out_dims(c, 0);
	const int64_t shift = msd_params_eye_like(c->node).k;

	if (msd_number_kind(dtype) == MSD_N_NONE) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "no kernel makes such elements");
	}
	for (int64_t r = 0; r < dims[0]; r++) {
		for (int64_t k = 0; k < dims[1]; k++) {
			const int64_t one = k - r == shift;

			if (msd_number_kind(dtype) == MSD_N_FLOAT) {
				msd_number_store_float(dtype, c->out[0],
						       r * dims[1] + k, (double)one);
			} else {
				msd_number_store(dtype, c->out[0], r * dims[1] + k,
						 one);
			}
		}
	}
	return MSD_OK;
}

/* Clamp an offset that exceeds the width of the matrix to its edge. */
static int64_t nearest(int64_t v, int64_t most)
{
	return v > most ? most : v < -most ? -most : v;
}

static msd_err run_trilu(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t rows = msd_kernel_in_dims(c, 0)[ndim - 2];
	const int64_t columns = msd_kernel_in_dims(c, 0)[ndim - 1];
	const bool is_upper = msd_params_trilu(c->node).upper != 0;
	const size_t size = msd_kernel_size(c);
	const int64_t own =
		msd_kernel_has(c, 1)
			? msd_number_load(msd_kernel_in_dtype(c, 1), c->in[1], 0).i
			: 0;
	const int64_t shift = nearest(own, rows + columns);
	const size_t n = msd_kernel_in_elements(c, 0);

	(void)d;
	if (n == 0)
		return MSD_OK;
	memcpy(c->out[0], c->in[0], n * size);
	for (size_t i = 0; i < n; i++) {
		const int64_t row = (int64_t)i / columns % rows;
		const int64_t above = (int64_t)i % columns - row - shift;

		if (is_upper ? above < 0 : above > 0)
			memset((uint8_t *)c->out[0] + i * size, 0, size);
	}
	return MSD_OK;
}

/* For an index out of range, all values are "off". */
static msd_err run_one_hot(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const struct msd_dtype index = msd_kernel_in_dtype(c, 0);
	const size_t ndim = msd_kernel_out_ndim(c, 0);
	const int64_t *dims = msd_kernel_out_dims(c, 0);
	const size_t axis = msd_kernel_axis(msd_params_one_hot(c->node).axis, ndim);
	const size_t inner = msd_kernel_inner(dims, ndim, axis);
	const size_t outer = msd_kernel_outer(dims, axis);
	const int64_t depth = dims[axis];
	const size_t size = msd_kernel_out_dtype(c, 0).bits / 8u;
	const uint8_t *values = c->in[2];
	uint8_t *y = c->out[0];

	(void)d;
	for (size_t o = 0; o < outer; o++) {
		for (int64_t k = 0; k < depth; k++) {
			for (size_t i = 0; i < inner; i++, y += size) {
				const union msd_number v = msd_number_load(
					index, c->in[0], (int64_t)(o * inner + i));
				const double at = msd_number_kind(index) == MSD_N_FLOAT
							  ? v.f
							  : (double)v.i;
				const bool is_one = at == (double)k ||
						    at + (double)depth == (double)k;

				memcpy(y, values + (is_one ? size : 0), size);
			}
		}
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_eye_like = {"EyeLike", run_eye_like,
					       MSD_TAKES_NUMBERS};
const struct msd_kernel msd_kernel_trilu = {"Trilu", run_trilu, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_one_hot = {"OneHot", run_one_hot, MSD_TAKES_NUMBERS};
