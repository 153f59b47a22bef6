/* Resize: its parameters, and the extents that follow from scales or sizes. */
#include "graph/op/move/resize.h"

#include <math.h>
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

enum { ROI = 1, SCALES, SIZES };

static int read_axes(const modser_sg_node *node, size_t *axes, size_t *ret_n)
{
	const struct msd_ints own = msd_params_resize(node).axes;
	const size_t ndim = msd_infer_ndim(node, 0);

	if (own.n > ndim)
		return msd_infer_fail(node, "it has too many axes");
	for (size_t i = 0; i < ndim; i++)
		axes[i] = i;
	for (size_t i = 0; i < own.n; i++) {
		if (msd_infer_axis_of(node, own.at[i], ndim, &axes[i]) != 0)
			return -1;
	}
	*ret_n = own.n > 0 ? own.n : ndim;
	return 0;
}

static int by_scales(const modser_sg_node *node, const size_t *axes, size_t n,
		     struct msd_op_scale *ret)
{
	const float *scales = msd_infer_value(node, SCALES);

	if (scales == NULL)
		return MSD_INFER_LATER;
	for (size_t i = 0; i < n; i++) {
		struct msd_op_scale *s = &ret[axes[i]];
		const double out = floor((double)scales[i] *
					 (double)msd_infer_dims(node, 0)[axes[i]]);

		if (!(scales[i] > 0) || !(out <= 0x1p31))
			return msd_infer_fail(node, "scale %zu cannot be", i);
		*s = (struct msd_op_scale){(double)scales[i], (int64_t)out, i};
	}
	return 0;
}

static int by_sizes(const modser_sg_node *node, const size_t *axes, size_t n,
		    struct msd_op_scale *ret)
{
	const char *policy = msd_params_resize(node).keep_aspect_ratio_policy;
	const bool is_smaller = strcmp(policy, "not_larger") == 0;
	const bool keeps_aspect = is_smaller || strcmp(policy, "not_smaller") == 0;
	int64_t sizes[MSD_INFER_MAX_INTS] = {0};
	double common = 0;
	size_t n_sizes;
	const int result = msd_infer_ints(node, SIZES, sizes, &n_sizes);

	if (result != 0)
		return result;
	for (size_t i = 0; i < n; i++) {
		const int64_t in = msd_infer_dims(node, 0)[axes[i]];

		if (sizes[i] < 0 || sizes[i] > INT32_MAX || in < 1)
			return msd_infer_fail(node, "size %zu cannot be", i);
		const double scale = (double)sizes[i] / (double)in;
		ret[axes[i]] = (struct msd_op_scale){scale, sizes[i], i};
		if (i == 0 || (is_smaller ? scale < common : scale > common))
			common = scale;
	}
	for (size_t i = 0; keeps_aspect && i < n; i++) {
		const double in = (double)msd_infer_dims(node, 0)[axes[i]];

		ret[axes[i]].scale = common;
		ret[axes[i]].out = (int64_t)floor(common * in + 0.5);
	}
	return 0;
}

static bool has_elements(const modser_sg_node *node, size_t i)
{
	return msd_infer_has(node, i) &&
	       msd_infer_product(node, i, 0, msd_infer_ndim(node, i)) > 0;
}

int msd_op_resize_scales(const modser_sg_node *node,
			 struct msd_op_scale ret[static MODSER_GRAPH_MAX_NDIM])
{
	const size_t ndim = msd_infer_ndim(node, 0);
	const bool is_scaled = has_elements(node, SCALES);
	size_t axes[MODSER_GRAPH_MAX_NDIM] = {0};
	size_t n = 0;

	if (is_scaled == has_elements(node, SIZES))
		return msd_infer_fail(node, "it takes either scales or sizes");
	if (read_axes(node, axes, &n) != 0)
		return -1;
	if (msd_infer_product(node, is_scaled ? SCALES : SIZES, 0, 1) != (int64_t)n)
		return msd_infer_fail(node, "it has not one scale for each axis");
	for (size_t i = 0; i < ndim; i++) {
		ret[i] = (struct msd_op_scale){1, msd_infer_dims(node, 0)[i], SIZE_MAX};
	}
	return is_scaled ? by_scales(node, axes, n, ret) : by_sizes(node, axes, n, ret);
}

static int infer(modser_sg_node *node)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM] = {{0}};
	int64_t dims[MODSER_GRAPH_MAX_NDIM];

	if (modser_sg_node_input_count(node) < 3)
		return msd_infer_fail(node, "Tengine's form cannot be run");
	for (size_t i = ROI; i <= SIZES; i++) {
		if (msd_infer_has(node, i) && msd_infer_rank(node, i, 1) != 0)
			return -1;
	}
	if (msd_infer_has(node, SCALES) &&
	    !msd_dtype_eq(msd_infer_dtype_of(node, SCALES), f32))
		return msd_infer_fail(node, "its scales are not float32");
	const int result = msd_op_resize_scales(node, scales);
	if (result != 0)
		return result;
	for (size_t i = 0; i < msd_infer_ndim(node, 0); i++)
		dims[i] = scales[i].out;
	return msd_infer_set(node, dims, msd_infer_ndim(node, 0));
}

const modser_sg_op_schema msd_op_resize = {
	.name = "Resize",
	OP_PARAMS(MSD_PARAMS_RESIZE),
	OP_IN(1, 4),
	.optional_in = 14,
	OP_OUT(1, 1),
	.infer = infer,
};
