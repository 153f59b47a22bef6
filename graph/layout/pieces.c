/*
 * Happy path: the operator's row finds the axis and the first element of the pieces.
 * Pieces are consecutive bytes if the axes before that one have one element.
 */
#include "graph/layout/pieces.h"

#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/index/params.h"
#include "graph/op/move/keeps.h"
#include "graph/op/move/params.h"
#include "graph/op/move/slice.h"

size_t msd_pieces_bytes(const modser_sg_tensor *t)
{
	uint64_t bytes = 0;

	return msd_sg_tensor_bytes(t, &bytes) ? (size_t)bytes : 0;
}

static int64_t elements(const modser_sg_tensor *t, size_t from, size_t to)
{
	int64_t n = 1;

	for (size_t i = from; i < to; i++)
		n *= t->dims[i];
	return n;
}

/* @param as an axis counted from 0; SIZE_MAX: along that axis, pieces of @whole are not
 * consecutive. */
static size_t axis_of(const modser_sg_node *node, int64_t param,
		      const modser_sg_tensor *whole)
{
	size_t axis;

	if (msd_infer_axis(node, param, &axis) != 0 || elements(whole, 0, axis) != 1)
		return SIZE_MAX;
	return axis;
}

static bool keeps(const modser_sg_node *node)
{
	const struct msd_op_keeping *row = msd_op_keeping_of(node);
	const modser_sg_tensor *x = node->inputs[0];
	const modser_sg_tensor *y = node->outputs[0];

	return row != NULL && msd_dtype_eq(x->dtype, y->dtype) &&
	       msd_pieces_bytes(x) == msd_pieces_bytes(y) && row->keeps(node);
}

/* Outputs along axis @param, the first from element @first of the axis on. */
static bool take_along(const modser_sg_node *node, int64_t param, int64_t first,
		       struct msd_pieces *ret)
{
	const modser_sg_tensor *x = ret->whole;
	const size_t axis = axis_of(node, param, x);

	if (axis == SIZE_MAX)
		return false;
	ret->begin = (size_t)(first * elements(x, axis + 1, (size_t)x->ndim)) *
		     (x->dtype.bits / 8u);
	ret->n = node->n_outputs;
	return true;
}

/* Consecutive: a range of one axis, one element of each axis before, all after it. */
static bool slice(const modser_sg_node *node, struct msd_pieces *ret)
{
	const modser_sg_tensor *x = ret->whole;
	struct msd_op_range ranges[MODSER_GRAPH_MAX_NDIM];
	size_t axis = 0;
	int64_t begin = 0;

	if (node->n_inputs < 2 || node->inputs[1] == NULL) {
		return take_along(node, msd_params_slice(node).axis,
				  msd_op_slice_begin(node), ret);
	}
	if (msd_op_slice_ranges(node, ranges) != 0)
		return false;
	while (axis < (size_t)x->ndim && ranges[axis].n == 1)
		axis++;
	for (size_t i = axis; i < (size_t)x->ndim; i++) {
		if (ranges[i].step != 1 || (i > axis && ranges[i].n != x->dims[i]))
			return false;
	}
	for (size_t i = 0; i < (size_t)x->ndim; i++)
		begin += ranges[i].begin * elements(x, i + 1, (size_t)x->ndim);
	ret->begin = (size_t)begin * (x->dtype.bits / 8u);
	return true;
}

static bool split(const modser_sg_node *node, struct msd_pieces *ret)
{
	return take_along(node, msd_params_split(node).axis, 0, ret);
}

/* One index that is a constant. */
static bool gather(const modser_sg_node *node, struct msd_pieces *ret)
{
	const modser_sg_tensor *at = node->n_inputs > 1 ? node->inputs[1] : NULL;
	const int64_t param = msd_params_gather(node).axis;
	const size_t axis = axis_of(node, param, ret->whole);
	int64_t index[MSD_INFER_MAX_INTS];
	size_t n = 0;

	if (axis == SIZE_MAX || at == NULL || at->type != MODSER_TENSOR_CONST ||
	    at->ndim > 1 || elements(at, 0, (size_t)at->ndim) != 1 ||
	    msd_infer_ints(node, 1, index, &n) != 0)
		return false;
	const int64_t all = ret->whole->dims[axis];
	index[0] += index[0] < 0 ? all : 0;
	return index[0] >= 0 && index[0] < all &&
	       take_along(node, param, index[0], ret);
}

static bool concat(const modser_sg_node *node, struct msd_pieces *ret)
{
	ret->whole = node->outputs[0];
	ret->list = node->inputs;
	ret->n = node->n_inputs;
	return axis_of(node, msd_params_concat(node).axis, ret->whole) != SIZE_MAX;
}

static const struct {
	const char *op;
	bool (*find)(const modser_sg_node *node, struct msd_pieces *ret);
} rows[] = {
	{"Slice", slice},
	{"Split", split},
	{"Gather", gather},
	{"Concat", concat},
};

static bool find(const modser_sg_node *node, struct msd_pieces *ret)
{
	if (keeps(node))
		return true;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].op, node->op->schema->name) == 0)
			return rows[i].find(node, ret);
	}
	return false;
}

bool msd_pieces_of(const modser_sg_node *node, struct msd_pieces *ret)
{
	if (node->op == NULL || node->n_inputs == 0 || node->inputs[0] == NULL ||
	    node->n_outputs == 0 || node->outputs[0] == NULL)
		return false;
	*ret = (struct msd_pieces){node->inputs[0], node->outputs, 1, 0};
	if (!find(node, ret) || msd_pieces_bytes(ret->whole) == 0 ||
	    ret->whole->dtype.bits % 8 != 0)
		return false;
	for (size_t i = 0; i < ret->n; i++) {
		if (ret->list[i] == NULL)
			return false;
	}
	return true;
}
