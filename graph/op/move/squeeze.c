/* Squeeze, Unsqueeze, Shape and Size. */
#include <string.h>

#include "graph/ir/infer.h"
#include "graph/op/op.h"

static const modser_sg_op_field squeeze_fields[] = {
	OP_INT("dim_0", -2), OP_INT("dim_1", -2), OP_INT("dim_2", -2),
	OP_INT("dim_3", -2), OP_OWN_INTS("axes"),
};

/* The axes of a node, from input 1, its parameter "axes" or, of a Squeeze, Tengine's
 * four fields. */
static int read_axes(const modser_sg_node *node, int64_t *axes, size_t *ret_n)
{
	static const char *const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
	const modser_sg_op *op = modser_sg_node_op(node);
	const modser_sg_attr *own = modser_sg_op_param(op, "axes");
	size_t n = 0;

	if (msd_infer_has(node, 1))
		return msd_infer_ints(node, 1, axes, ret_n);
	if (own->n > MSD_INFER_MAX_INTS)
		return msd_infer_fail(node, "it has too many axes");
	if (own->n > 0)
		memcpy(axes, own->as.ints, own->n * sizeof(*axes));
	for (size_t i = 0; i < OP_COUNT(names) && own->n == 0; i++) {
		const modser_sg_attr *dim = modser_sg_op_param(op, names[i]);

		if (dim != NULL && dim->as.i != -2)
			axes[n++] = dim->as.i;
	}
	*ret_n = own->n > 0 ? own->n : n;
	return 0;
}

static int infer_squeeze(modser_sg_node *node)
{
	const int64_t *in = msd_infer_dims(node, 0);
	const size_t ndim = msd_infer_ndim(node, 0);
	bool goes[MODSER_GRAPH_MAX_NDIM] = {false};
	int64_t axes[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n_axes = 0;
	size_t n = 0;
	const int result = read_axes(node, axes, &n_axes);

	if (result != 0)
		return result;
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
	OP_FIELDS(squeeze_fields),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_squeeze,
};

static const modser_sg_op_field unsqueeze_fields[] = {
	OP_INTS("axes"),
};
static int infer_unsqueeze(modser_sg_node *node)
{
	const int64_t *in = msd_infer_dims(node, 0);
	bool is_new[MODSER_GRAPH_MAX_NDIM] = {false};
	int64_t axes[MSD_INFER_MAX_INTS];
	int64_t dims[MODSER_GRAPH_MAX_NDIM];
	size_t n_axes = 0;
	const int result = read_axes(node, axes, &n_axes);
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
	OP_FIELDS(unsqueeze_fields),
	OP_IN(1, 2),
	.optional_in = 2,
	OP_OUT(1, 1),
	.infer = infer_unsqueeze,
};

static const modser_sg_op_field shape_fields[] = {
	OP_OWN_INT("start", 0),
	OP_OWN_INT("end", INT64_MAX),
};
static int64_t within(int64_t axis, int64_t ndim)
{
	axis = axis < 0 ? axis + ndim : axis;
	return axis < 0 ? 0 : axis > ndim ? ndim : axis;
}

static int infer_shape(modser_sg_node *node)
{
	const modser_sg_op *op = modser_sg_node_op(node);
	const int64_t ndim = (int64_t)msd_infer_ndim(node, 0);
	const int64_t n = within(modser_sg_op_int(op, "end"), ndim) -
			  within(modser_sg_op_int(op, "start"), ndim);
	const int64_t dims[] = {n < 0 ? 0 : n};

	msd_infer_dtype(node, 0, OP_INT64);
	return msd_infer_set(node, dims, 1);
}

const modser_sg_op_schema msd_op_shape = {
	.name = "Shape",
	OP_FIELDS(shape_fields),
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
