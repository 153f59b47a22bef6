/* Spectra: DFT along an axis, STFT of frames of a signal. The last extent, 1 or 2,
 * makes numbers real or complex. */
#include "graph/op/signal/fourier.h"

#include <math.h>
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"
#include "graph/op/signal/params.h"

/* Read a positive integer from input @i. */
static int read_count(const modser_sg_node *node, size_t i, int64_t *ret)
{
	double v;
	const int result = msd_infer_number(node, i, &v);

	if (result != 0)
		return result;
	if (!(v >= 1 && v <= (double)INT32_MAX))
		return msd_infer_fail(node, "input %zu is not 1 or more", i);
	*ret = (int64_t)v;
	return 0;
}

/* The number of distinct frequencies of @n; for real numbers the rest mirror them. */
static int64_t count_bins(bool is_onesided, int64_t n)
{
	return is_onesided ? n / 2 + 1 : n;
}

static int check_parts(const modser_sg_node *node, bool is_onesided)
{
	const int64_t parts = msd_infer_dims(node, 0)[msd_infer_ndim(node, 0) - 1];

	if (parts != 1 && parts != 2)
		return msd_infer_fail(node, "its last extent is neither 1 nor 2");
	if (parts == 2 && is_onesided)
		return msd_infer_fail(node, "complex numbers have two sides");
	return 0;
}

int msd_op_dft_axis(const modser_sg_node *node, size_t *ret)
{
	double axis = (double)msd_params_dft(node).axis;
	const int result =
		msd_infer_has(node, 2) ? msd_infer_number(node, 2, &axis) : 0;
	const size_t ndim = msd_infer_ndim(node, 0);

	if (result != 0)
		return result;
	if (!(fabs(axis) <= MODSER_GRAPH_MAX_NDIM) ||
	    msd_infer_axis_of(node, (int64_t)axis, ndim, ret) != 0 || *ret == ndim - 1)
		return msd_infer_fail(node, "its axis is none of the transform's");
	return 0;
}

static int infer_dft(modser_sg_node *node)
{
	const struct msd_params_dft p = msd_params_dft(node);
	const size_t ndim = msd_infer_ndim(node, 0);
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t axis = 0;
	int result;

	if (ndim < 2)
		return msd_infer_fail(node, "its input has less than two dimensions");
	if (check_parts(node, p.onesided != 0) != 0)
		return -1;
	result = msd_op_dft_axis(node, &axis);
	if (result != 0)
		return result;
	if (p.inverse != 0 && p.onesided != 0)
		return msd_infer_fail(node, "an inverse has two sides");
	memcpy(dims, msd_infer_dims(node, 0), ndim * sizeof(*dims));
	if (msd_infer_has(node, 1))
		result = read_count(node, 1, &dims[axis]);
	if (result != 0)
		return result;
	dims[axis] = count_bins(p.onesided != 0, dims[axis]);
	dims[ndim - 1] = 2;
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_dft = {
	.name = "DFT",
	OP_PARAMS(MSD_PARAMS_DFT),
	OP_IN(1, 3),
	.optional_in = 6,
	OP_OUT(1, 1),
	.infer = infer_dft,
};

int msd_op_frames(const modser_sg_node *node, int64_t *ret_step, int64_t *ret_length)
{
	int64_t length = msd_infer_dims(node, 0)[1];
	int result = read_count(node, 1, ret_step);

	if (result == 0 && msd_infer_has(node, 3)) {
		result = read_count(node, 3, &length);
	} else if (msd_infer_has(node, 2)) {
		length = msd_infer_dims(node, 2)[0];
	}
	*ret_length = length;
	return result;
}

/* Inputs are the signal, the frame step, the window, and the frame length. */
static int infer_stft(modser_sg_node *node)
{
	const bool is_onesided = msd_params_stft(node).onesided != 0;
	int64_t step = 1;
	int64_t length = 1;

	if (msd_infer_rank(node, 0, 3) != 0 || check_parts(node, is_onesided) != 0 ||
	    (msd_infer_has(node, 2) && msd_infer_rank(node, 2, 1) != 0))
		return -1;
	if (msd_infer_has(node, 2) &&
	    !msd_dtype_eq(msd_infer_dtype_of(node, 2), msd_infer_dtype_of(node, 0)))
		return msd_infer_fail(node, "its window is of another type");
	const int result = msd_op_frames(node, &step, &length);
	if (result != 0)
		return result;
	const int64_t *in = msd_infer_dims(node, 0);
	if (msd_infer_has(node, 2) && msd_infer_dims(node, 2)[0] != length)
		return msd_infer_fail(node, "its window is not as long as a frame");
	if (length < 1 || length > in[1])
		return msd_infer_fail(node, "a frame is longer than the signal");
	const int64_t dims[] = {in[0], (in[1] - length) / step + 1,
				count_bins(is_onesided, length), 2};
	return msd_infer_set(node, dims, 4);
}

const modser_sg_op_schema msd_op_stft = {
	.name = "STFT",
	OP_PARAMS(MSD_PARAMS_STFT),
	OP_IN(2, 4),
	.optional_in = 12,
	OP_OUT(1, 1),
	.infer = infer_stft,
};
