/* Squeeze, Unsqueeze, Shape and Size. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/move/params.h"
#include "graph/op/op.h"

/* The axes of a node, from input 1 or its parameter "axes". */
static int read_axes(const modser_sg_node *node, struct msd_ints own, int64_t *axes,
		     size_t *ret_n)
{
	if (msd_infer_has(node, 1))
		return msd_infer_ints(node, 1, axes, ret_n);
	if (own.n > MSD_INFER_MAX_INTS)
		return msd_infer_fail(node, "it has too many axes");
	if (own.n > 0)
		memcpy(axes, own.at, own.n * sizeof(*axes));
	*ret_n = own.n;
	return 0;
}

/* The axes in Tengine's four fields. */
static size_t tm_axes(const struct msd_params_squeeze *p, int64_t *axes)
{
	const int64_t dims[] = {p->dim_0, p->dim_1, p->dim_2, p->dim_3};
	size_t n = 0;

	for (size_t i = 0; i < OP_COUNT(dims); i++) {
		if (dims[i] != -2)
			axes[n++] = dims[i];
	}
	return n;
}

static int infer_squeeze(modser_sg_node *node)
{
	const struct msd_params_squeeze p = msd_params_squeeze(node);
	const int64_t *in = msd_infer_dims(node, 0);
	const size_t ndim = msd_infer_ndim(node, 0);
	bool goes[MODSER_GRAPH_MAX_NDIM] = {false};
	int64_t axes[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n_axes = 0;
	size_t n = 0;
	const int result = read_axes(node, p.axes, axes, &n_axes);

	if (result != 0)
		return result;
	if (n_axes == 0 && !msd_infer_has(node, 1))
		n_axes = tm_axes(&p, axes);
	for (size_t i = 0; i < n_axes; i++) {
		size_t axis;

		if (msd_infer_axis_of(node, axes[i], ndim, &axis) != 0)
			return -1;
		if (in[axis] != 1)
			return msd_infer_fail(node, "extent %zu is not 1", axis);
		goes[axis] = true;
	}
	for (size_t i = 0; i < ndim; i++) {
		if (n_axes == 0 ? in[i] != 1 : !goes[i])
			dims[n++] = in[i];
	}
	return msd_infer_set(node, dims, n);
}

const modser_sg_op_schema msd_op_squeeze = {
	.name = "Squeeze",
	OP_PARAMS(MSD_PARAMS_SQUEEZE),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_squeeze,
};

static int infer_unsqueeze(modser_sg_node *node)
{
	const int64_t *in = msd_infer_dims(node, 0);
	bool is_new[MODSER_GRAPH_MAX_NDIM] = {false};
	int64_t axes[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n_axes = 0;
	const int result =
		read_axes(node, msd_params_unsqueeze(node).axes, axes, &n_axes);
	const size_t ndim = msd_infer_ndim(node, 0) + n_axes;

	if (result != 0)
		return result;
	if (ndim > MODSER_GRAPH_MAX_NDIM)
		return msd_infer_fail(node, "it has more than 32 dimensions");
	for (size_t i = 0; i < n_axes; i++) {
		size_t axis;

		if (msd_infer_axis_of(node, axes[i], ndim, &axis) != 0)
			return -1;
		if (is_new[axis])
			return msd_infer_fail(node, "an axis comes twice");
		is_new[axis] = true;
	}
	for (size_t i = 0; i < ndim; i++)
		dims[i] = is_new[i] ? 1 : *in++;
	return msd_infer_set(node, dims, ndim);
}

const modser_sg_op_schema msd_op_unsqueeze = {
	.name = "Unsqueeze",
	OP_PARAMS(MSD_PARAMS_UNSQUEEZE),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_unsqueeze,
};

static int64_t within(int64_t axis, int64_t ndim)
{
	axis = axis < 0 ? axis + ndim : axis;
	return axis < 0 ? 0 : axis > ndim ? ndim : axis;
}

static int infer_shape(modser_sg_node *node)
{
	const struct msd_params_shape p = msd_params_shape(node);
	const int64_t ndim = (int64_t)msd_infer_ndim(node, 0);
	const int64_t n = within(p.end, ndim) - within(p.start, ndim);
	const int64_t dims[] = {n < 0 ? 0 : n};

	msd_infer_dtype(node, 0, OP_INT64);
	return msd_infer_set(node, dims, 1);
}

const modser_sg_op_schema msd_op_shape = {
	.name = "Shape",
	OP_PARAMS(MSD_PARAMS_SHAPE),
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_shape,
};

static int infer_size(modser_sg_node *node)
{
	msd_infer_dtype(node, 0, OP_INT64);
	return msd_infer_set(node, NULL, 0);
}

const modser_sg_op_schema msd_op_size_of = {
	.name = "Size",
	OP_IN(1, 1),
	OP_OUT(1, 1),
	.infer = infer_size,
};
