#include "graph/op/move/keeps.h"

#include <stddef.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/op/move/pad.h"
#include "graph/op/move/slice.h"
#include "graph/op/move/transpose.h"

static bool always(const modser_sg_node *node)
{
	(void)node;
	return true;
}

/* True if training mode is off or not given. */
static bool drops_nothing(const modser_sg_node *node)
{
	const modser_sg_tensor *trains = node->n_inputs > 2 ? node->inputs[2] : NULL;

	return trains == NULL ||
	       (trains->type == MODSER_TENSOR_CONST && trains->bytes == 1 &&
		trains->data != NULL && *(const uint8_t *)trains->data == 0);
}

/* True if the axes with more than one element stay in order. */
static bool keeps_axes(const modser_sg_node *node)
{
	size_t order[MODSER_GRAPH_MAX_NDIM] = {0};
	size_t last = 0;

	if (msd_op_transpose_order(node, order) != 0)
		return false;
	for (size_t i = 0; i < (size_t)node->inputs[0]->ndim; i++) {
		if (node->inputs[0]->dims[order[i]] == 1)
			continue;
		if (order[i] < last)
			return false;
		last = order[i];
	}
	return true;
}

static bool pads_nothing(const modser_sg_node *node)
{
	struct msd_op_pads pads;

	if (msd_op_pad_amounts(node, &pads) != 0)
		return false;
	for (size_t i = 0; i < (size_t)node->inputs[0]->ndim; i++) {
		if (pads.before[i] != 0 || pads.after[i] != 0)
			return false;
	}
	return true;
}

/* True if it takes all of each axis, forwards. */
static bool slices_all(const modser_sg_node *node)
{
	struct msd_op_range ranges[MODSER_GRAPH_MAX_NDIM];

	if (node->n_inputs < 2 || node->inputs[1] == NULL ||
	    msd_op_slice_ranges(node, ranges) != 0)
		return false;
	for (size_t i = 0; i < (size_t)node->inputs[0]->ndim; i++) {
		if (ranges[i].begin != 0 || ranges[i].step != 1)
			return false;
	}
	return true;
}

static bool is_alone(const modser_sg_node *node)
{
	return node->n_inputs == 1;
}

static const struct msd_op_keeping rows[] = {
	{"Noop", false, always},      {"Dropout", false, drops_nothing},
	{"Cast", true, always},       {"CastLike", true, always},
	{"Reshape", true, always},    {"Flatten", true, always},
	{"Squeeze", true, always},    {"Unsqueeze", true, always},
	{"Expanddims", true, always}, {"Expand", true, always},
	{"Tile", true, always},       {"Transpose", true, keeps_axes},
	{"Pad", true, pads_nothing},  {"Slice", true, slices_all},
	{"Concat", true, is_alone},
};

const struct msd_op_keeping *msd_op_keeping_of(const modser_sg_node *node)
{
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (strcmp(rows[i].op, node->op->schema->name) == 0)
			return &rows[i];
	}
	return NULL;
}
