/* Operators that move elements: lists that are inputs in ONNX are parameters. */
#include <math.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/ir/infer.h"
#include "graph/op/move/pad.h"
#include "graph/op/move/resize.h"
#include "graph/serializer/tmfile/plan.h"

static bool is_text(const struct tm_node *n, const char *param, const char *text)
{
	return strcmp(modser_sg_op_param(n->from->op, param)->as.s, text) == 0;
}

static int write_axis(struct tm_node *n)
{
	return tm_int(n, "axis") >= 0 ? 0
	       : tm_copy(n) != 0      ? -1
				      : tm_set_axis(n, "axis", tm_ndim(n));
}

/* The list of input 1, if there is one, becomes parameter @param. */
static int put_list(struct tm_node *n, const char *param, int64_t *list, size_t *ret_n)
{
	if (tm_input(n, 1) == NULL) {
		const modser_sg_attr *own = modser_sg_op_param(n->from->op, param);

		if (own->n > TM_MAX_INTS)
			return tm_fail(n, "%s is too long", param);
		if (own->n > 0)
			memcpy(list, own->as.ints, own->n * sizeof(*list));
		*ret_n = own->n;
	} else if (tm_ints(n, 1, list, ret_n) != 0) {
		return -1;
	}
	n->n_inputs = 1;
	return tm_copy(n) != 0 ? -1 : tm_set_ints(n, param, list, *ret_n);
}

static bool is_list(const modser_sg_tensor *t)
{
	return t->dtype.code == MSD_DT_INT && t->dtype.bits >= 32;
}

/* A computed shape is written if it is the same in each run. */
static int write_reshape(struct tm_node *n)
{
	const modser_sg_tensor *y = n->from->outputs[0];
	int64_t list[TM_MAX_INTS];
	size_t count = 0;

	if (modser_sg_op_param(n->op, "re_shape")->n > 0 || tm_input(n, 1) == NULL ||
	    !is_list(tm_input(n, 1)))
		return 0;
	if (msd_infer_value(n->from, 1) == NULL) {
		if (tm_elements(y) == 0)
			return tm_fail(n, "its shape must be a constant");
		n->n_inputs = 1;
		return tm_copy(n) != 0
			       ? -1
			       : tm_set_ints(n, "re_shape", y->dims, (size_t)y->ndim);
	}
	if (put_list(n, "re_shape", list, &count) != 0)
		return -1;
	for (size_t i = 0; tm_int(n, "allowzero") != 0 && i < count; i++) {
		if (list[i] == 0)
			return tm_fail(n, "an extent of 0 is a copied one");
	}
	return tm_set_int(n, "allowzero", 0);
}

/* A Reshape to the extents of the output, one of which may follow from the others. 1:
 * more are not known. */
static int put_shape(struct tm_node *n)
{
	const modser_sg_tensor *y = n->from->outputs[0];
	int64_t list[MODSER_GRAPH_MAX_NDIM] = {1};
	const size_t ndim = y->ndim > 0 ? (size_t)y->ndim : 1;
	size_t open = 0;

	for (size_t i = 0; i < ndim && y->ndim > 0; i++) {
		list[i] = y->dims[i] < 0 ? -1 : y->dims[i];
		open += list[i] <= 0 ? 1 : 0;
	}
	if (y->ndim < 0 || open > 1)
		return 1;
	n->n_inputs = 1;
	return tm_become(n, "Reshape") != 0 || tm_set_int(n, "is_onnx", 1) != 0
		       ? -1
		       : tm_set_ints(n, "re_shape", list, ndim);
}

/* Tengine keeps the first axis, and joins from one on. */
static int write_flatten(struct tm_node *n)
{
	const int ndim = tm_ndim(n);

	if (tm_copy(n) != 0 || tm_set_axis(n, "axis", ndim) != 0 ||
	    tm_set_axis(n, "end_axis", ndim) != 0)
		return -1;
	if (modser_sg_op_int(n->op, "axis") == 1)
		return 0;
	const int result = put_shape(n);
	return result <= 0 ? result
			   : tm_fail(n, "it begins at another axis than 1, and its "
					"shape is not known");
}

/* Tengine counts the axes of a Squeeze as if channels were last. */
static int write_squeeze(struct tm_node *n)
{
	const int result = put_shape(n);

	if (result <= 0)
		return result;
	static const char *const names[] = {"dim_0", "dim_1", "dim_2", "dim_3"};
	const modser_sg_tensor *x = tm_input(n, 0);
	int64_t axes[TM_MAX_INTS];
	size_t count = 0;

	if (tm_input(n, 1) == NULL && modser_sg_op_param(n->op, "axes")->n == 0 &&
	    tm_int(n, "dim_0") != -2)
		return 0;
	if (tm_ndim(n) < 0)
		return tm_fail(n, "the shape of its input is not known");
	if (put_list(n, "axes", axes, &count) != 0 ||
	    tm_set_ints(n, "axes", NULL, 0) != 0)
		return -1;
	for (int i = 0; count == 0 && i < x->ndim; i++) {
		if (x->dims[i] == 1)
			axes[count++] = i;
	}
	if (count > 4)
		return tm_fail(n, "it has four axes at most");
	for (size_t i = 0; i < count; i++) {
		if (tm_set_int(n, names[i],
			       axes[i] < 0 ? axes[i] + tm_ndim(n) : axes[i]) != 0)
			return -1;
	}
	return 0;
}

static int write_unsqueeze(struct tm_node *n)
{
	int64_t axes[TM_MAX_INTS];
	size_t count = 0;

	if (put_list(n, "axes", axes, &count) != 0)
		return -1;
	for (size_t i = 0; i < count; i++) {
		if (axes[i] < 0 && tm_ndim(n) < 0)
			return tm_fail(n, "the shape of its input is not known");
		axes[i] += axes[i] < 0 ? tm_ndim(n) + (int64_t)count : 0;
	}
	return tm_set_ints(n, "axes", axes, count);
}

/* Tengine wants the shape as an input, too. */
static int write_expand(struct tm_node *n)
{
	const size_t n_inputs = n->n_inputs;
	int64_t list[TM_MAX_INTS];
	size_t count = 0;

	if (put_list(n, "shape", list, &count) != 0 ||
	    tm_set_int(n, "dim_num", (int64_t)count) != 0)
		return -1;
	n->n_inputs = n_inputs;
	return 0;
}

static int write_tile(struct tm_node *n)
{
	int64_t list[TM_MAX_INTS];
	size_t count = 0;

	return put_list(n, "reps", list, &count) != 0
		       ? -1
		       : tm_set_int(n, "reps_size", (int64_t)count);
}

static int write_split(struct tm_node *n)
{
	int64_t list[TM_MAX_INTS];
	size_t count = 0;

	if (put_list(n, "sizes", list, &count) != 0 ||
	    tm_set_axis(n, "axis", tm_ndim(n)) != 0)
		return -1;
	return tm_set_int(n, "split_dim", (int64_t)n->from->n_outputs);
}

static int write_transpose(struct tm_node *n)
{
	int64_t perm[MODSER_GRAPH_MAX_NDIM];
	const int ndim = tm_ndim(n);

	if (modser_sg_op_param(n->op, "perm")->n > 0)
		return 0;
	if (ndim < 0)
		return tm_fail(n, "the shape of its input is not known");
	for (int i = 0; i < ndim; i++)
		perm[i] = ndim - 1 - i;
	return tm_copy(n) != 0 ? -1 : tm_set_ints(n, "perm", perm, (size_t)ndim);
}

/* The part of one axis that a Slice keeps. */
struct cut {
	int64_t begin;
	int64_t end;
	int64_t step;
};

/* Several axes, or steps: an end is counted back from the extent, 0 is the extent. */
static int put_strided(struct tm_node *n, const struct cut *cuts)
{
	static const char *const names[4][3] = {{"begin_n", "end_n", "stride_n"},
						{"begin_c", "end_c", "stride_c"},
						{"begin_h", "end_h", "stride_h"},
						{"begin_w", "end_w", "stride_w"}};
	const modser_sg_tensor *x = tm_input(n, 0);

	if (x->ndim != 4 || tm_become(n, "StridedSlice") != 0)
		return tm_fail(n, "it cuts one axis, in steps of 1, or four axes");
	for (size_t i = 0; i < 4; i++) {
		if (tm_set_int(n, names[i][0], cuts[i].begin) != 0 ||
		    tm_set_int(n, names[i][1], cuts[i].end - x->dims[i]) != 0 ||
		    tm_set_int(n, names[i][2], cuts[i].step) != 0)
			return -1;
	}
	return 0;
}

static int cut_axis(const struct tm_node *n, int64_t axis, int64_t step, struct cut *c)
{
	const modser_sg_tensor *x = tm_input(n, 0);

	axis = axis < 0 ? axis + x->ndim : axis;
	if (axis < 0 || axis >= x->ndim || x->dims[axis] < 0)
		return tm_fail(n, "the extent that it cuts is not known");
	const int64_t all = x->dims[axis];
	int64_t begin = c->begin < 0 ? c->begin + all : c->begin;
	int64_t end = c->end < 0 ? c->end + all : c->end;
	begin = begin < 0 ? 0 : begin;
	end = end > all ? all : end;
	if (step < 1)
		return tm_fail(n, "it has no steps backwards");
	if (begin >= end)
		return tm_fail(n, "it leaves nothing");
	*c = (struct cut){begin, end, step};
	return 0;
}

/* ONNX cuts several axes; Tengine's Slice one, forwards. */
static int write_slice(struct tm_node *n)
{
	const modser_sg_tensor *x = tm_input(n, 0);
	int64_t begins[TM_MAX_INTS];
	int64_t ends[TM_MAX_INTS];
	int64_t axes[TM_MAX_INTS];
	int64_t steps[TM_MAX_INTS];
	size_t count = 0;

	if (tm_input(n, 1) == NULL)
		return 0;
	for (size_t i = 0; i < TM_MAX_INTS; i++) {
		axes[i] = (int64_t)i;
		steps[i] = 1;
	}
	if (tm_ints(n, 1, begins, &count) != 0 || tm_ints(n, 2, ends, &count) != 0 ||
	    (tm_input(n, 3) != NULL && tm_ints(n, 3, axes, &count) != 0) ||
	    (tm_input(n, 4) != NULL && tm_ints(n, 4, steps, &count) != 0))
		return -1;
	if (x == NULL || x->ndim < 1)
		return tm_fail(n, "the shape of its input is not known");
	struct cut cuts[MODSER_GRAPH_MAX_NDIM] = {{0}};
	for (int i = 0; i < x->ndim; i++)
		cuts[i] = (struct cut){0, x->dims[i], 1};
	int64_t axis = 0;
	for (size_t i = 0; i < count; i++) {
		struct cut c = {begins[i], ends[i], 1};

		if (cut_axis(n, axes[i], steps[i], &c) != 0)
			return -1;
		axis = axes[i] < 0 ? axes[i] + x->ndim : axes[i];
		cuts[axis] = c;
	}
	n->n_inputs = 1;
	if (count != 1 || cuts[axis].step != 1)
		return put_strided(n, cuts);
	if (tm_become(n, "Slice") != 0 || tm_set_int(n, "axis", axis) != 0 ||
	    tm_set_int(n, "isonnx", 1) != 0 ||
	    tm_set_int(n, "begin", cuts[axis].begin) != 0)
		return -1;
	return tm_set_int(n, "end", cuts[axis].end);
}

/* Tengine's order of a block's elements is column, row, depth. */
static int write_depth_to_space(struct tm_node *n)
{
	const modser_sg_tensor *y = n->from->outputs[0];

	if (!is_text(n, "mode", "CRD") && (y->ndim != 4 || y->dims[1] != 1))
		return tm_fail(n, "its mode is CRD");
	return tm_become(n, "DepthToSpace") != 0
		       ? -1
		       : tm_set_int(n, "block_size", tm_int(n, "block_size"));
}

static int write_pad(struct tm_node *n)
{
	static const char *const names[] = {"pad_n_0", "pad_n_1", "pad_c_0", "pad_c_1",
					    "pad_h_0", "pad_h_1", "pad_w_0", "pad_w_1"};
	struct msd_op_pads pads;
	float value = modser_sg_op_float(n->op, "value");

	if (tm_input(n, 1) == NULL)
		return 0;
	if (tm_ndim(n) != 4)
		return tm_fail(n, "it has four axes");
	if (tm_int(n, "mode") == MSD_PAD_WRAP)
		return tm_fail(n, "it has no wrapping");
	if (tm_input(n, 2) != NULL && !tm_number(tm_input(n, 2), &value))
		return tm_fail(n, "its value must be a constant of float32");
	const int result = msd_op_pad_amounts(n->from, &pads);
	if (result != 0)
		return result < 0 ? -1 : tm_fail(n, "its amounts must be constants");
	n->n_inputs = 1;
	if (tm_copy(n) != 0 || tm_set_float(n, "value", value) != 0)
		return -1;
	for (size_t i = 0; i < 4; i++) {
		if (tm_set_int(n, names[2 * i], pads.before[i]) != 0 ||
		    tm_set_int(n, names[2 * i + 1], pads.after[i]) != 0)
			return -1;
	}
	return 0;
}

/* The element that ONNX takes for element @o of @out; @scale: of the axis. */
static double nearest_of(const struct tm_node *n, int64_t o, int64_t in, int64_t out,
			 double scale)
{
	double at = ((double)o + 0.5) / scale - 0.5;

	if (is_text(n, "coordinate_transformation_mode", "asymmetric"))
		at = (double)o / scale;
	if (is_text(n, "coordinate_transformation_mode", "align_corners"))
		at = out > 1 ? (double)o * (double)(in - 1) / (double)(out - 1) : 0;
	if (is_text(n, "nearest_mode", "floor")) {
		at = floor(at);
	} else if (is_text(n, "nearest_mode", "ceil")) {
		at = ceil(at);
	} else if (is_text(n, "nearest_mode", "round_prefer_ceil")) {
		at = floor(at + 0.5);
	} else {
		at = ceil(at - 0.5);
	}
	return at < 0 ? 0 : at > (double)(in - 1) ? (double)(in - 1) : at;
}

/* Tengine's nearest element is o * in / out, rounded down. */
static bool is_nearest(const struct tm_node *n, int64_t in, int64_t out, double scale)
{
	for (int64_t o = 0; o < out; o++) {
		const int64_t low = o * in / out;

		if (nearest_of(n, o, in, out, scale) != (double)low)
			return false;
	}
	return true;
}

/* Interp's type; 0: it has no such one. */
static int64_t resize_type(const struct tm_node *n, const struct msd_op_scale *s)
{
	const int64_t *in = tm_input(n, 0)->dims;

	if (is_text(n, "mode", "nearest")) {
		return is_nearest(n, in[2], s[2].out, s[2].scale) &&
				       is_nearest(n, in[3], s[3].out, s[3].scale)
			       ? 1
			       : 0;
	}
	for (size_t i = 2; i < 4; i++) {
		if (s[i].scale * (double)in[i] != (double)s[i].out)
			return 0;
	}
	if (!is_text(n, "mode", "linear") || tm_int(n, "antialias") != 0 ||
	    tm_int(n, "exclude_outside") != 0)
		return 0;
	if (is_text(n, "coordinate_transformation_mode", "align_corners"))
		return 4;
	return is_text(n, "coordinate_transformation_mode", "half_pixel") ||
			       (is_text(n, "coordinate_transformation_mode",
					"pytorch_half_pixel") &&
				s[2].out > 1 && s[3].out > 1)
		       ? 2
		       : 0;
}

static int put_size(const struct tm_node *n, const char *scale, const char *extent,
		    int64_t in, int64_t out)
{
	const int64_t whole = in > 0 && out % in == 0 ? out / in : 0;

	if (tm_set_float(n, scale, (float)whole) != 0)
		return -1;
	return tm_set_int(n, extent, out);
}

static int write_resize(struct tm_node *n)
{
	struct msd_op_scale scales[MODSER_GRAPH_MAX_NDIM] = {{0}};

	if (n->from->n_inputs < 3)
		return 0; /* Tengine's own */
	if (tm_ndim(n) != 4)
		return tm_fail(n, "it has four axes");
	const int64_t *in = tm_input(n, 0)->dims;
	if (in[2] < 1 || in[3] < 1)
		return tm_fail(n, "the shape of its input is not known");
	const int result = msd_op_resize_scales(n->from, scales);
	if (result != 0)
		return result < 0 ? -1 : tm_fail(n, "its scales must be constants");
	const int64_t type = resize_type(n, scales);
	if (scales[0].out != in[0] || scales[1].out != in[1] || type == 0)
		return tm_fail(n, "Interp has no such way");
	n->n_inputs = 1;
	if (tm_become(n, "Interp") != 0 || tm_set_int(n, "resize_type", type) != 0 ||
	    put_size(n, "height_scale", "output_height", in[2], scales[2].out) != 0)
		return -1;
	return put_size(n, "width_scale", "output_width", in[3], scales[3].out);
}

const struct tm_form tm_forms_always[] = {
	{"DepthToSpace", write_depth_to_space},
	{NULL, NULL},
};

const struct tm_form tm_forms_move[] = {
	{"ArgMax", write_axis},
	{"ArgMin", write_axis},
	{"Concat", write_axis},
	{"Expand", write_expand},
	{"Flatten", write_flatten},
	{"Gather", write_axis},
	{"Pad", write_pad},
	{"Reshape", write_reshape},
	{"Resize", write_resize},
	{"Slice", write_slice},
	{"Split", write_split},
	{"Squeeze", write_squeeze},
	{"Tile", write_tile},
	{"Transpose", write_transpose},
	{"Unsqueeze", write_unsqueeze},
	{NULL, NULL},
};
