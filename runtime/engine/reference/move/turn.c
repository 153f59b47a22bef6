/* Operators of Tengine that move elements of any type: SwapAxis, Reverse, StridedSlice,
 * Reorg. */
#include <string.h>

#include "runtime/kernel/kernels.h"

static void copy(const struct msd_kernel_call *c, size_t to, size_t from)
{
	const size_t size = msd_kernel_size(c);

	memcpy((uint8_t *)c->out[0] + to * size,
	       (const uint8_t *)c->in[0] + from * size, size);
}

static msd_err run_swap(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const size_t a = msd_kernel_axis(msd_kernel_int(c, "dim_0"), ndim);
	const size_t b = msd_kernel_axis(msd_kernel_int(c, "dim_1"), ndim);
	const size_t first = a < b ? a : b;
	const size_t last = a < b ? b : a;
	const size_t n = msd_kernel_out_elements(c, 0);

	(void)d;
	if (n == 0 || a == b) {
		if (n > 0)
			memcpy(c->out[0], c->in[0], n * msd_kernel_size(c));
		return MSD_OK;
	}
	/* Five extents: all before, the first axis, all between, the last, all after.
	 */
	const size_t p = (size_t)in[first];
	const size_t q = (size_t)in[last];
	const size_t inner = msd_kernel_inner(in, ndim, last);
	const size_t between = msd_kernel_inner(in, ndim, first) / q / inner;
	for (size_t i = 0; i < n; i++) {
		const size_t e = i % inner;
		const size_t y = i / inner % p;
		const size_t m = i / inner / p % between;
		const size_t x = i / inner / p / between % q;
		const size_t o = i / inner / p / between / q;

		copy(c, i, (((o * p + y) * between + m) * q + x) * inner + e);
	}
	return MSD_OK;
}

static msd_err run_reverse(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const size_t ndim = msd_kernel_in_ndim(c, 0);
	const int64_t *in = msd_kernel_in_dims(c, 0);
	int64_t axis;

	const msd_err err = msd_kernel_index(c, 1, 0, (int64_t)ndim, &axis, d);

	if (err != MSD_OK)
		return err;
	const size_t extent = (size_t)in[axis];
	const size_t inner = msd_kernel_inner(in, ndim, (size_t)axis);
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const size_t k = i / inner % extent;

		copy(c, i, i + (extent - 1 - 2 * k) * inner);
	}
	return MSD_OK;
}

static msd_err run_strided_slice(const struct msd_kernel_call *c, struct msd_diag *d)
{
	static const char *const begins[] = {"begin_n", "begin_c", "begin_h",
					     "begin_w"};
	static const char *const strides[] = {"stride_n", "stride_c", "stride_h",
					      "stride_w"};
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const int64_t *out = msd_kernel_out_dims(c, 0);

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		size_t left = i;
		size_t from = 0;

		for (size_t k = 4; k-- > 0;) {
			const size_t at = (size_t)msd_kernel_int(c, begins[k]) +
					  left % (size_t)out[k] *
						  (size_t)msd_kernel_int(c, strides[k]);

			left /= (size_t)out[k];
			from += at * msd_kernel_inner(in, 4, k);
		}
		copy(c, i, from);
	}
	return MSD_OK;
}

/* As Darknet has it: the elements of the input are read as if they were planes that are
 * @stride times as high and wide. */
static msd_err run_reorg(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const int64_t *in = msd_kernel_in_dims(c, 0);
	const size_t stride = (size_t)msd_kernel_int(c, "stride");
	const size_t channels = (size_t)in[1];
	const size_t height = (size_t)in[2];
	const size_t width = (size_t)in[3];
	const size_t few = channels / (stride * stride);

	(void)d;
	for (size_t i = 0; i < msd_kernel_out_elements(c, 0); i++) {
		const size_t x = i % width;
		const size_t y = i / width % height;
		const size_t k = i / width / height % channels;
		const size_t b = i / width / height / channels;
		const size_t offset = k / few;
		const size_t row = y * stride + offset / stride;
		const size_t column = x * stride + offset % stride;

		copy(c, i,
		     ((b * few + k % few) * height * stride + row) * width * stride +
			     column);
	}
	return MSD_OK;
}

const struct msd_kernel msd_kernel_swap_axis = {"SwapAxis", run_swap, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_reverse = {"Reverse", run_reverse, MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_strided_slice = {"StridedSlice", run_strided_slice,
						    MSD_TAKES_BYTES};
const struct msd_kernel msd_kernel_reorg = {"Reorg", run_reorg, MSD_TAKES_BYTES};
