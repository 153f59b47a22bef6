/* Write operators that move elements or reduce as ONNX: lists are inputs in opset 17,
 * except the axes of most reductions. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/serializer/onnx/dtype.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/format.h"
#include "graph/serializer/onnx/out.h"

/* Write input 1: the node's own, or a list from a parameter; without either none. */
static void put_list_input(const struct onnx_out *o, Onnx__NodeProto *node,
			   const char *param)
{
	const modser_sg_attr *list = modser_sg_op_param(o->op, param);

	if (o->node->n_inputs > 1 && o->node->inputs[1] != NULL) {
		onnx_emit_in(o->e, node, onnx_out_input(o, 1));
	} else if (list->n > 0) {
		onnx_emit_in(o->e, node, onnx_emit_list(o->e, list->as.ints, list->n));
	}
}

/* Extents, -1 for the rest and 0 to copy one; Tengine has more codes. */
static int store_reshape(const struct onnx_out *o)
{
	const modser_sg_attr *codes = modser_sg_op_param(o->op, "re_shape");

	if (onnx_out_check(o, "is_mxnet re_shape is_onnx allowzero") != 0)
		return -1;
	for (size_t i = 0; i < codes->n; i++) {
		if (codes->as.ints[i] < -1) {
			return onnx_out_fail(o, "ONNX has no code %d",
					     (int)codes->as.ints[i]);
		}
	}
	Onnx__NodeProto *node = onnx_out_node(o, "Reshape");
	if (codes->n > 0) {
		onnx_emit_in(o->e, node,
			     onnx_emit_list(o->e, codes->as.ints, codes->n));
	} else {
		put_list_input(o, node, "re_shape");
	}
	if (modser_sg_op_int(o->op, "allowzero") != 0)
		onnx_emit_int(o->e, node, "allowzero", 1);
	return 0;
}

/* Read Tengine's four fields as a list. */
static size_t four(const struct onnx_out *o, int64_t *ret)
{
	static const char *const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
	size_t n = 0;

	for (size_t i = 0; i < 4; i++) {
		if (modser_sg_op_int(o->op, names[i]) != -2)
			ret[n++] = modser_sg_op_int(o->op, names[i]);
	}
	return n;
}

static int store_squeeze(const struct onnx_out *o)
{
	Onnx__NodeProto *node = onnx_out_node(o, "Squeeze");
	int64_t axes[4];
	const size_t n = four(o, axes);

	if (n > 0) {
		onnx_emit_in(o->e, node, onnx_emit_list(o->e, axes, n));
	} else {
		put_list_input(o, node, "axes");
	}
	return 0;
}

static int store_unsqueeze(const struct onnx_out *o)
{
	put_list_input(o, onnx_out_node(o, "Unsqueeze"), "axes");
	return 0;
}

static int store_expand(const struct onnx_out *o)
{
	put_list_input(o, onnx_out_node(o, "Expand"), "shape");
	return 0;
}

static int store_tile(const struct onnx_out *o)
{
	if (onnx_out_check(o, "reps reps_size") != 0)
		return -1;
	put_list_input(o, onnx_out_node(o, "Tile"), "reps");
	return 0;
}

/* Write unequal pieces: opset 17 has no other way to express a smaller last one. */
static void put_pieces(const struct onnx_out *o, Onnx__NodeProto *node)
{
	const int64_t axis = modser_sg_op_int(o->op, "axis");
	int64_t *extents = onnx_emit_alloc(o->e, o->node->n_outputs * sizeof(*extents));
	bool is_alike = true;

	if (extents == NULL)
		return;
	for (size_t i = 0; i < o->node->n_outputs; i++) {
		const modser_sg_tensor *t = o->node->outputs[i];
		const int64_t at = t != NULL && axis < 0 ? axis + t->ndim : axis;

		if (t == NULL || at < 0 || at >= t->ndim || t->dims[at] < 0)
			return; /* extents known only in a run are divided equally */
		extents[i] = t->dims[at];
		is_alike = is_alike && extents[i] == extents[0];
	}
	if (!is_alike) {
		onnx_emit_in(o->e, node,
			     onnx_emit_list(o->e, extents, o->node->n_outputs));
	}
}

static int store_split(const struct onnx_out *o)
{
	if (onnx_out_check(o, "axis sizes is_onnx split_dim") != 0)
		return -1;
	Onnx__NodeProto *node = onnx_emit_node(o->e, "Split", o->node->name);
	onnx_emit_in(o->e, node, onnx_out_input(o, 0));
	for (size_t i = 0; i < o->node->n_outputs; i++)
		onnx_emit_out(o->e, node, onnx_out_output(o, i));
	onnx_emit_int(o->e, node, "axis", modser_sg_op_int(o->op, "axis"));
	put_list_input(o, node, "sizes");
	if (node->n_input == 1)
		put_pieces(o, node);
	return 0;
}

static int store_topk(const struct onnx_out *o)
{
	const int64_t k = modser_sg_op_int(o->op, "k");
	Onnx__NodeProto *node = onnx_emit_node(o->e, "TopK", o->node->name);
	char *own = onnx_emit_name(o->e, o->node->name);

	onnx_emit_in(o->e, node, onnx_out_input(o, 0));
	onnx_emit_in(o->e, node,
		     o->node->n_inputs > 1 ? onnx_out_input(o, 1)
					   : onnx_emit_list(o->e, &k, 1));
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	onnx_emit_out(o->e, node, o->node->n_outputs > 1 ? onnx_out_output(o, 1) : own);
	onnx_emit_int(o->e, node, "axis", modser_sg_op_int(o->op, "axis"));
	onnx_emit_int(o->e, node, "largest", modser_sg_op_int(o->op, "largest"));
	return 0;
}

/* The axes as a list: an input of ReduceSum, an attribute of the rest, which must be
 * a known value. */
static int store_reduction(const struct onnx_out *o)
{
	const struct onnx_row *row = onnx_row_of_op(o->op);
	const modser_sg_attr *own = modser_sg_op_param(o->op, "axes");
	int64_t axes[MSD_INFER_MAX_INTS];
	size_t n = four(o, axes);

	if (row == NULL)
		return onnx_out_fail(o, "ONNX has no such type");
	if (own->n > 0 && own->n <= MSD_INFER_MAX_INTS) {
		n = own->n;
		memcpy(axes, own->as.ints, n * sizeof(*axes));
	}
	const bool is_input = msd_infer_has(o->node, 1);
	const bool is_sum = strcmp(row->name, "ReduceSum") == 0;
	if (is_input && !is_sum) {
		if (o->node->inputs[1]->type != MODSER_TENSOR_CONST ||
		    msd_infer_ints(o->node, 1, axes, &n) != 0) {
			return onnx_out_fail(o, "opset 17 needs explicit axes");
		}
	}
	const bool is_noop =
		modser_sg_op_int(o->op, "noop_with_empty_axes") != 0 && n == 0;
	if (is_noop && !is_sum && !is_input) {
		(void)onnx_out_node(o, "Identity");
		return 0;
	}
	Onnx__NodeProto *node = onnx_out_node(o, row->name);
	onnx_emit_int(o->e, node, "keepdims", modser_sg_op_int(o->op, "keepdim"));
	if (is_sum && is_input) {
		onnx_emit_in(o->e, node, onnx_out_input(o, 1));
	} else if (is_sum && n > 0) {
		onnx_emit_in(o->e, node, onnx_emit_list(o->e, axes, n));
	} else if (n > 0) {
		onnx_emit_ints(o->e, node, "axes", axes, n);
	}
	if (is_sum && modser_sg_op_int(o->op, "noop_with_empty_axes") != 0)
		onnx_emit_int(o->e, node, "noop_with_empty_axes", 1);
	return 0;
}

static int store_pad(const struct onnx_out *o)
{
	static const char *const modes[] = {"constant", "edge", "reflect"};
	static const char *const fields[] = {"pad_n_0", "pad_c_0", "pad_h_0",
					     "pad_w_0", "pad_n_1", "pad_c_1",
					     "pad_h_1", "pad_w_1"};
	const int64_t mode = modser_sg_op_int(o->op, "mode");
	const float value = modser_sg_op_float(o->op, "value");
	int64_t pads[8];

	if (mode < 0 || mode > 2 || o->node->n_inputs > 3)
		return onnx_out_fail(o, "opset 17 has no such padding");
	Onnx__NodeProto *node = onnx_out_node(o, "Pad");
	onnx_emit_string(o->e, node, "mode", modes[mode], false);
	for (size_t i = 1; i < o->node->n_inputs; i++)
		onnx_emit_in(o->e, node, onnx_out_input(o, i));
	if (o->node->n_inputs > 1)
		return 0;
	for (size_t i = 0; i < 8; i++)
		pads[i] = modser_sg_op_int(o->op, fields[i]);
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, pads, 8));
	if (value != 0)
		onnx_emit_in(o->e, node, onnx_emit_scalar(o->e, value));
	return 0;
}

static int store_cast(const struct onnx_out *o)
{
	const char *to = modser_sg_tensor_dtype(o->node->outputs[0]);
	const char *own = modser_sg_op_param(o->op, "to")->as.s;
	const int32_t number = onnx_dtype_number(own[0] != '\0' ? own : to);

	if (number == 0)
		return onnx_out_fail(o, "opset 17 has no such elements");
	onnx_emit_int(o->e, onnx_out_node(o, "Cast"), "to", number);
	return 0;
}

static int store_permute(const struct onnx_out *o)
{
	static const char *const names[] = {"order0", "order1", "order2", "order3"};
	int64_t perm[4];

	for (size_t i = 0; i < 4; i++)
		perm[i] = modser_sg_op_int(o->op, names[i]);
	onnx_emit_ints(o->e, onnx_out_node(o, "Transpose"), "perm", perm, 4);
	return 0;
}

static int store_flatten(const struct onnx_out *o)
{
	const int64_t end = modser_sg_op_int(o->op, "end_axis");
	const int ndim = onnx_out_ndim(o, 0);

	if (end >= 0 && (ndim < 0 || end < ndim - 1))
		return onnx_out_fail(o, "it does not end with the last axis");
	onnx_emit_int(o->e, onnx_out_node(o, "Flatten"), "axis",
		      modser_sg_op_int(o->op, "axis"));
	return 0;
}

static int store_gather(const struct onnx_out *o)
{
	if (o->node->n_inputs != 2)
		return onnx_out_fail(o, "it has no indices");
	Onnx__NodeProto *node = onnx_out_node(o, "Gather");
	onnx_emit_in(o->e, node, onnx_out_input(o, 1));
	onnx_emit_int(o->e, node, "axis", modser_sg_op_int(o->op, "axis"));
	return 0;
}

/* Reject features of opset 18. */
static int store_resize(const struct onnx_out *o)
{
	int64_t first;

	if (onnx_out_check(o, "mode coordinate_transformation_mode nearest_mode "
			      "cubic_coeff_a extrapolation_value "
			      "exclude_outside") != 0)
		return -1;
	if (o->node->n_inputs < 3)
		return onnx_out_fail(o, "Tengine's form is another");
	(void)onnx_out_by_row(o, onnx_row_find(NULL, "Resize", ONNX_OPSET, &first));
	return 0;
}

/* Put the extents of the output, or factors if a run brings the first of them. */
static int put_extents(const struct onnx_out *o, Onnx__NodeProto *node)
{
	const modser_sg_tensor *y = o->node->outputs[0];
	const float factors[] = {1, 1, modser_sg_op_float(o->op, "height_scale"),
				 modser_sg_op_float(o->op, "width_scale")};
	static const int64_t four_long[] = {4};
	bool is_known = y->ndim == 4;

	for (int i = 0; i < y->ndim; i++)
		is_known = is_known && y->dims[i] >= 0;
	onnx_emit_in(o->e, node, onnx_emit_text(o->e, ""));
	if (is_known) {
		onnx_emit_in(o->e, node, onnx_emit_text(o->e, ""));
		onnx_emit_in(o->e, node, onnx_emit_list(o->e, y->dims, 4));
		return 0;
	}
	if (factors[2] == 0 || factors[3] == 0)
		return onnx_out_fail(o, "the shape of its output is not known");
	onnx_emit_in(o->e, node, onnx_emit_singles(o->e, factors, four_long, 1));
	return 0;
}

static int store_interp(const struct onnx_out *o)
{
	const int64_t type = modser_sg_op_int(o->op, "resize_type");
	Onnx__NodeProto *node = onnx_out_node(o, "Resize");

	if (type != 1 && type != 2 && type != 4)
		return onnx_out_fail(o, "ONNX has no such type");
	onnx_emit_string(o->e, node, "mode", type == 1 ? "nearest" : "linear", false);
	onnx_emit_string(o->e, node, "coordinate_transformation_mode",
			 type == 1   ? "asymmetric"
			 : type == 2 ? "half_pixel"
				     : "align_corners",
			 false);
	if (type == 1)
		onnx_emit_string(o->e, node, "nearest_mode", "floor", false);
	return put_extents(o, node);
}

/* Tengine's parameters of one axis. */
static int store_slice(const struct onnx_out *o)
{
	const int64_t axis = modser_sg_op_int(o->op, "axis");
	const int64_t begin = modser_sg_op_int(o->op, "begin");
	const int64_t end = modser_sg_op_int(o->op, "end");
	const int64_t step = modser_sg_op_int(o->op, "step");
	int64_t first;

	if (o->node->n_inputs > 1) {
		(void)onnx_out_by_row(o,
				      onnx_row_find(NULL, "Slice", ONNX_OPSET, &first));
		return 0;
	}
	if (modser_sg_op_int(o->op, "isonnx") == 0)
		return onnx_out_fail(o, "it is a Slice of another kind than ONNX's");
	Onnx__NodeProto *node = onnx_out_node(o, "Slice");
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, &begin, 1));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, &end, 1));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, &axis, 1));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, &step, 1));
	return 0;
}

/* Tengine's four axes: an end is counted back, and 0 is the extent. */
static int store_strided_slice(const struct onnx_out *o)
{
	static const char *const names[4][3] = {{"begin_n", "end_n", "stride_n"},
						{"begin_c", "end_c", "stride_c"},
						{"begin_h", "end_h", "stride_h"},
						{"begin_w", "end_w", "stride_w"}};
	const modser_sg_tensor *y = o->node->outputs[0];
	static const int64_t axes[] = {0, 1, 2, 3};
	int64_t lists[3][4];

	for (size_t i = 0; i < 4; i++) {
		if (y->ndim != 4 || y->dims[i] < 0)
			return onnx_out_fail(o, "the shape of its output is not known");
		lists[0][i] = modser_sg_op_int(o->op, names[i][0]);
		lists[2][i] = modser_sg_op_int(o->op, names[i][2]);
		lists[1][i] = lists[0][i] + (y->dims[i] - 1) * lists[2][i] + 1;
	}
	Onnx__NodeProto *node = onnx_out_node(o, "Slice");
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, lists[0], 4));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, lists[1], 4));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, axes, 4));
	onnx_emit_in(o->e, node, onnx_emit_list(o->e, lists[2], 4));
	return 0;
}

/* Tengine's is over the axis and all behind it. */
static int store_length(const struct onnx_out *o)
{
	const int64_t axis = modser_sg_op_int(o->op, "axis");
	const int ndim = onnx_out_ndim(o, 0);
	int64_t axes[MODSER_GRAPH_MAX_NDIM];
	size_t n = 0;

	if (ndim < 1 || axis < -ndim || axis >= ndim)
		return onnx_out_fail(o, "the shape of its input is not known");
	for (int64_t i = axis < 0 ? axis + ndim : axis; i < ndim; i++)
		axes[n++] = i;
	Onnx__NodeProto *node = onnx_out_node(o, "ReduceL2");
	onnx_emit_ints(o->e, node, "axes", axes, n);
	onnx_emit_int(o->e, node, "keepdims", modser_sg_op_int(o->op, "keepdim") != 0);
	return 0;
}

const struct onnx_form onnx_forms_move[] = {
	{"Cast", store_cast},
	{"Expand", store_expand},
	{"Flatten", store_flatten},
	{"Gather", store_gather},
	{"Interp", store_interp},
	{"Pad", store_pad},
	{"Permute", store_permute},
	{"ReduceL2", store_length},
	{"Reduction", store_reduction},
	{"Reshape", store_reshape},
	{"Resize", store_resize},
	{"Slice", store_slice},
	{"Split", store_split},
	{"StridedSlice", store_strided_slice},
	{"Squeeze", store_squeeze},
	{"Tile", store_tile},
	{"TopKV2", store_topk},
	{"Unsqueeze", store_unsqueeze},
	{NULL, NULL},
};
