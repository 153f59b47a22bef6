/* Write Tengine-specific forms of layers as ONNX. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/onnx/emit.h"
#include "graph/serializer/onnx/out.h"

/* Reshape the input to rows: all axes after the first become one. */
static int store_fully_connected(const struct onnx_out *o)
{
	char *rows = onnx_emit_name(o->e, o->node->name);
	const bool is_flat = onnx_out_ndim(o, 0) == 2;

	if (!is_flat) {
		Onnx__NodeProto *flat = onnx_emit_node(o->e, "Flatten", o->node->name);

		onnx_emit_in(o->e, flat, onnx_out_input(o, 0));
		onnx_emit_out(o->e, flat, rows);
		onnx_emit_int(o->e, flat, "axis", 1);
	}
	Onnx__NodeProto *node = onnx_emit_node(o->e, "Gemm", o->node->name);
	onnx_emit_in(o->e, node, is_flat ? onnx_out_input(o, 0) : rows);
	for (size_t i = 1; i < o->node->n_inputs; i++)
		onnx_emit_in(o->e, node, onnx_out_input(o, i));
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	onnx_emit_int(o->e, node, "transB", 1);
	return 0;
}

static int store_relu(const struct onnx_out *o)
{
	const float slope = modser_sg_op_float(o->op, "negative_slope");
	Onnx__NodeProto *node = onnx_out_node(o, slope != 0 ? "LeakyRelu" : "Relu");

	if (slope != 0)
		onnx_emit_float(o->e, node, "alpha", slope);
	return 0;
}

static int store_relu6(const struct onnx_out *o)
{
	Onnx__NodeProto *node = onnx_out_node(o, "Clip");

	onnx_emit_in(o->e, node, onnx_emit_scalar(o->e, 0));
	onnx_emit_in(o->e, node, onnx_emit_scalar(o->e, 6));
	return 0;
}

/* Limits are inputs. */
static int store_clip(const struct onnx_out *o)
{
	Onnx__NodeProto *node = onnx_out_node(o, "Clip");

	if (o->node->n_inputs > 1) {
		for (size_t i = 1; i < o->node->n_inputs; i++)
			onnx_emit_in(o->e, node, onnx_out_input(o, i));
		return 0;
	}
	onnx_emit_in(o->e, node,
		     onnx_emit_scalar(o->e, modser_sg_op_float(o->op, "min")));
	onnx_emit_in(o->e, node,
		     onnx_emit_scalar(o->e, modser_sg_op_float(o->op, "max")));
	return 0;
}

static int store_batch_norm(const struct onnx_out *o)
{
	Onnx__NodeProto *node;

	if (onnx_out_check(o, "eps caffe_flavor training_mode momentum") != 0)
		return -1;
	node = onnx_out_by_row(o, onnx_row_of_op(o->op));
	if (modser_sg_op_int(o->op, "training_mode") != 0) {
		onnx_emit_float(o->e, node, "momentum",
				modser_sg_op_float(o->op, "momentum"));
	}
	return 0;
}

/* Slopes that go with channels get an axis of 1 for each axis that follows. */
static int store_prelu(const struct onnx_out *o)
{
	const int ndim = onnx_out_ndim(o, 0);
	int64_t shape[MODSER_GRAPH_MAX_NDIM] = {-1};
	Onnx__NodeProto *node = onnx_emit_node(o->e, "PRelu", o->node->name);
	char *slopes = onnx_out_input(o, 1);

	if (modser_sg_op_int(o->op, "broadcasts") == 0) {
		if (ndim < 2)
			return onnx_out_fail(o, "its shape is not known");
		for (int i = 1; i < ndim - 1; i++)
			shape[i] = 1;
		if (node == NULL || o->e->bad)
			return 0; /* memory is short, and the node may not be in the
				     list */
		o->e->nodes.n--;  /* write the slopes before the node */
		Onnx__NodeProto *reshape =
			onnx_emit_node(o->e, "Reshape", o->node->name);
		onnx_emit_in(o->e, reshape, slopes);
		onnx_emit_in(o->e, reshape,
			     onnx_emit_list(o->e, shape, (size_t)ndim - 1));
		slopes = onnx_emit_name(o->e, o->node->name);
		onnx_emit_out(o->e, reshape, slopes);
		onnx_emit_push(o->e, &o->e->nodes, node);
	}
	onnx_emit_in(o->e, node, onnx_out_input(o, 0));
	onnx_emit_in(o->e, node, slopes);
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return 0;
}

/* Tengine's Eltwise types with an ONNX operator; NULL if there is none. */
static const char *eltwise_op(int64_t type)
{
	static const char *const ops[] = {
		[0] = "Mul",  [1] = "Mul",   [2] = "Add",    [3] = "Add",  [4] = "Sub",
		[5] = "Sub",  [6] = "Max",   [8] = "Min",    [10] = "Div", [11] = "Log",
		[12] = "Exp", [13] = "Sqrt", [14] = "Floor", [16] = "Pow"};

	return type >= 0 && (size_t)type < sizeof(ops) / sizeof(ops[0]) ? ops[type]
									: NULL;
}

/* True if @b has the last axes of @a, all 1 but that of the channels, or but the last
 * two. */
static bool is_stretched(const modser_sg_tensor *a, const modser_sg_tensor *b)
{
	const int ndim = a->ndim;
	bool is_channels = ndim > 1 && b->ndim <= ndim && b->ndim >= ndim - 1;
	bool is_plane = ndim > 2 && b->ndim <= ndim && b->ndim >= 2;

	for (int i = ndim - b->ndim; i < ndim && (is_channels || is_plane); i++) {
		const int64_t n = b->dims[i - (ndim - b->ndim)];

		is_channels = is_channels && (i == 1 ? n == a->dims[i] : n == 1);
		is_plane = is_plane && (i >= ndim - 2 ? n == a->dims[i] : n == 1);
	}
	return is_channels ||
	       (is_plane && a->dims[1] != a->dims[ndim - 1] * a->dims[ndim - 2]);
}

/* True if numpy's rules broadcast the inputs as Tengine does. */
static bool is_alike(const modser_sg_tensor *a, const modser_sg_tensor *b)
{
	uint64_t n = 0;

	if (a->ndim >= 0 && b->ndim >= 0 && (is_stretched(a, b) || is_stretched(b, a)))
		return true;
	if (a->ndim >= 0 && a->ndim == b->ndim &&
	    memcmp(a->dims, b->dims, (size_t)a->ndim * sizeof(*a->dims)) == 0)
		return true;
	return (a->ndim >= 0 && msd_shape_elements(a->dims, (size_t)a->ndim, &n) &&
		n == 1) ||
	       (b->ndim >= 0 && msd_shape_elements(b->dims, (size_t)b->ndim, &n) &&
		n == 1);
}

/* A node of two inputs; returns the name of its output. */
static char *put_two(const struct onnx_out *o, const char *op, char *a, char *b)
{
	Onnx__NodeProto *node = onnx_emit_node(o->e, op, o->node->name);
	char *made = onnx_emit_name(o->e, o->node->name);

	onnx_emit_in(o->e, node, a);
	if (b != NULL)
		onnx_emit_in(o->e, node, b);
	onnx_emit_out(o->e, node, made);
	return made;
}

/* The power of a sum: three operators of ONNX, without those that change nothing. */
static void put_power(const struct onnx_out *o)
{
	const struct {
		const char *op;
		float number, neutral;
	} steps[] = {{"Mul", modser_sg_op_float(o->op, "scale"), 1},
		     {"Add", modser_sg_op_float(o->op, "shift"), 0},
		     {"Pow", modser_sg_op_float(o->op, "power"), 1}};
	char *from = onnx_out_input(o, 0);

	for (size_t i = 0; i < 3; i++) {
		if (steps[i].number == steps[i].neutral)
			continue;
		from = put_two(o, steps[i].op, from,
			       onnx_emit_scalar(o->e, steps[i].number));
	}
	Onnx__NodeProto *last = onnx_emit_node(o->e, "Identity", o->node->name);
	onnx_emit_in(o->e, last, from);
	onnx_emit_out(o->e, last, onnx_out_output(o, 0));
}

static int store_eltwise(const struct onnx_out *o)
{
	if (modser_sg_op_int(o->op, "type") == 17) {
		put_power(o);
		return 0;
	}
	const char *op = eltwise_op(modser_sg_op_int(o->op, "type"));
	const bool is_pair = o->node->n_inputs == 2;

	if (op == NULL)
		return onnx_out_fail(o, "ONNX has no such type");
	if (is_pair && !is_alike(o->node->inputs[0], o->node->inputs[1]))
		return onnx_out_fail(o, "ONNX does not stretch by channels");
	Onnx__NodeProto *node = onnx_out_node(o, op);
	if (is_pair)
		onnx_emit_in(o->e, node, onnx_out_input(o, 1));
	return 0;
}

static int store_unary(const struct onnx_out *o)
{
	/* By Tengine's numbers. */
	static const char *const ops[] = {"Abs",        "Neg", "Floor", "Ceil", "Mul",
					  "Sqrt",       NULL,  "Exp",   "Log",  "Sin",
					  "Cos",        "Tan", "Asin",  "Acos", "Atan",
					  "Reciprocal", "Tanh"};
	const int64_t type = modser_sg_op_int(o->op, "type");

	if (type < 0 || (size_t)type >= sizeof(ops) / sizeof(ops[0]) ||
	    ops[type] == NULL)
		return onnx_out_fail(o, "ONNX has no such type");
	Onnx__NodeProto *node = onnx_out_node(o, ops[type]);
	if (strcmp(ops[type], "Mul") == 0) /* the square */
		onnx_emit_in(o->e, node, onnx_out_input(o, 0));
	return 0;
}

/* Opset 17 accepts one axis. Several axes are flattened into a matrix, whose rows are
 * then reshaped back. The original shape need not be known here. */
static int store_flat(const struct onnx_out *o, int64_t axis)
{
	struct onnx_emit *e = o->e;
	char *shape = onnx_emit_name(e, o->node->name);
	char *flat = onnx_emit_name(e, o->node->name);
	char *done = onnx_emit_name(e, o->node->name);
	Onnx__NodeProto *node = onnx_emit_node(e, "Shape", o->node->name);

	onnx_emit_in(e, node, onnx_out_input(o, 0));
	onnx_emit_out(e, node, shape);
	node = onnx_emit_node(e, "Flatten", o->node->name);
	onnx_emit_in(e, node, onnx_out_input(o, 0));
	onnx_emit_out(e, node, flat);
	onnx_emit_int(e, node, "axis", axis);
	node = onnx_emit_node(e, o->op->schema->name, o->node->name);
	onnx_emit_in(e, node, flat);
	onnx_emit_out(e, node, done);
	onnx_emit_int(e, node, "axis", 1);
	node = onnx_emit_node(e, "Reshape", o->node->name);
	onnx_emit_in(e, node, done);
	onnx_emit_in(e, node, shape);
	onnx_emit_out(e, node, onnx_out_output(o, 0));
	onnx_emit_int(e, node, "allowzero", 1);
	return 0;
}

/* With the last axis the two are equal. */
static int store_softmax(const struct onnx_out *o)
{
	const int64_t axis = modser_sg_op_int(o->op, "axis");

	if (modser_sg_op_int(o->op, "flattens") != 0 && axis != -1 &&
	    axis != onnx_out_ndim(o, 0) - 1)
		return store_flat(o, axis);
	Onnx__NodeProto *node = onnx_out_node(o, o->op->schema->name);
	onnx_emit_int(o->e, node, "axis", axis);
	return 0;
}

static int store_lrn(const struct onnx_out *o)
{
	const int64_t size = modser_sg_op_int(o->op, "local_size");

	if (onnx_out_check(o, "local_size alpha beta k is_onnx") != 0)
		return -1;
	if (size % 2 == 0 && modser_sg_op_int(o->op, "is_onnx") == 0)
		return onnx_out_fail(o, "an even window is another in ONNX");
	Onnx__NodeProto *node = onnx_out_node(o, "LRN");
	onnx_emit_int(o->e, node, "size", size);
	onnx_emit_float(o->e, node, "alpha", modser_sg_op_float(o->op, "alpha"));
	onnx_emit_float(o->e, node, "beta", modser_sg_op_float(o->op, "beta"));
	onnx_emit_float(o->e, node, "bias", modser_sg_op_float(o->op, "k"));
	return 0;
}

static int store_recurrent(const struct onnx_out *o)
{
	if (modser_sg_op_param(o->op, "direction")->as.s[0] == '\0')
		return onnx_out_fail(o, "Tengine's form is another");
	(void)onnx_out_by_row(o, onnx_row_of_op(o->op));
	return 0;
}

static int store_grid_sample(const struct onnx_out *o)
{
	if (onnx_out_ndim(o, 0) > 4)
		return onnx_out_fail(o, "opset 17 supports only planes");
	(void)onnx_out_by_row(o, onnx_row_of_op(o->op));
	return 0;
}

/* Shifts have an operator; other bit operations need opset 18. */
static int store_bitwise(const struct onnx_out *o)
{
	const int64_t type = modser_sg_op_int(o->op, "type");

	if (type < 3)
		return onnx_out_fail(o, "ONNX of opset 17 has no such operator");
	Onnx__NodeProto *node = onnx_out_node(o, "BitShift");
	onnx_emit_in(o->e, node, onnx_out_input(o, 1));
	onnx_emit_string(o->e, node, "direction", type == 3 ? "LEFT" : "RIGHT", false);
	return 0;
}

/* Reject features of opset 20. */
static int store_dft(const struct onnx_out *o)
{
	if (o->node->n_inputs > 2)
		return onnx_out_fail(o, "opset 17 has no axis that is computed");
	(void)onnx_out_by_row(o, onnx_row_of_op(o->op));
	return 0;
}

/* Opset 20 has Gelu: x / 2 * (1 + erf(x / sqrt(2))), or an approximation with tanh. */
static int store_gelu(const struct onnx_out *o)
{
	const bool is_near =
		strcmp(modser_sg_op_param(o->op, "approximate")->as.s, "tanh") == 0;
	char *x = onnx_out_input(o, 0);
	char *inner = x;

	if (strcmp(modser_sg_tensor_dtype(o->node->inputs[0]), "float32") != 0)
		return onnx_out_fail(o, "opset 17 has it of float32 only");
	if (is_near) { /* sqrt(2 / pi) * (x + 0.044715 x^3) */
		inner = put_two(o, "Mul", put_two(o, "Mul", x, x), x);
		inner = put_two(o, "Mul", inner, onnx_emit_scalar(o->e, 0.044715f));
		inner = put_two(o, "Add", inner, x);
	}
	inner = put_two(o, "Mul", inner,
			onnx_emit_scalar(o->e, is_near ? 0.7978845608f : 0.70710678f));
	inner = put_two(o, is_near ? "Tanh" : "Erf", inner, NULL);
	inner = put_two(o, "Add", inner, onnx_emit_scalar(o->e, 1));
	x = put_two(o, "Mul", x, onnx_emit_scalar(o->e, 0.5f));
	Onnx__NodeProto *node = onnx_emit_node(o->e, "Mul", o->node->name);
	onnx_emit_in(o->e, node, inner);
	onnx_emit_in(o->e, node, x);
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return 0;
}

/* Elements of input @i; -1 while they are not known. */
static int64_t elements_of(const struct onnx_out *o, size_t i)
{
	int64_t ret = 1;

	for (int k = 0; k < onnx_out_ndim(o, i); k++) {
		const int64_t n = o->node->inputs[i]->dims[k];

		if (n < 0 || n > INT32_MAX)
			return -1;
		ret = ret > INT32_MAX ? ret : ret * n;
	}
	return onnx_out_ndim(o, i) >= 0 ? ret : -1;
}

/* @x as rows of @n channels. */
static char *put_rows_of(const struct onnx_out *o, char *x, int64_t n)
{
	const int64_t dims[] = {0, n, -1};

	return put_two(o, "Reshape", x, onnx_emit_list(o->e, dims, 3));
}

/* Input @i as a column. */
static char *put_column(const struct onnx_out *o, size_t i)
{
	return put_two(o, "Reshape", onnx_out_input(o, i),
		       onnx_emit_list(o->e, (const int64_t[]){-1, 1}, 2));
}

/* Input @i of a normalization of @groups, or @value for each of them. */
static char *per_group(const struct onnx_out *o, size_t i, int64_t groups,
		       bool is_given, float value)
{
	if (is_given) {
		return put_two(o, "Reshape", onnx_out_input(o, i),
			       onnx_emit_list(o->e, (const int64_t[]){-1}, 1));
	}
	return put_two(o, "Expand", onnx_emit_scalar(o->e, value),
		       onnx_emit_list(o->e, &groups, 1));
}

/* Opset 18 has GroupNormalization: an InstanceNormalization whose channels are the
 * groups. The rank of its input need not be known. */
static int store_group_norm(const struct onnx_out *o)
{
	const int64_t groups = modser_sg_op_int(o->op, "num_groups");
	const int64_t n = elements_of(o, 1);
	char *x = onnx_out_input(o, 0);

	if (strcmp(modser_sg_tensor_dtype(o->node->inputs[0]), "float32") != 0)
		return onnx_out_fail(o, "opset 17 has it of float32 only");
	if (n < 0 || elements_of(o, 2) != n) {
		return onnx_out_fail(o, "its scale and bias have lengths that are not "
					"known or differ");
	}
	char *const in[] = {put_rows_of(o, x, groups),
			    per_group(o, 1, groups, n == groups, 1),
			    per_group(o, 2, groups, n == groups, 0)};
	char *made = onnx_emit_name(o->e, o->node->name);
	Onnx__NodeProto *node =
		onnx_emit_node(o->e, "InstanceNormalization", o->node->name);
	for (size_t i = 0; i < 3; i++)
		onnx_emit_in(o->e, node, in[i]);
	onnx_emit_out(o->e, node, made);
	onnx_emit_float(o->e, node, "epsilon", modser_sg_op_float(o->op, "eps"));
	if (n != groups) {
		made = put_two(o, "Mul", put_rows_of(o, made, n), put_column(o, 1));
		made = put_two(o, "Add", made, put_column(o, 2));
	}
	char *shape = put_two(o, "Shape", x, NULL);
	node = onnx_emit_node(o->e, "Reshape", o->node->name);
	onnx_emit_in(o->e, node, made);
	onnx_emit_in(o->e, node, shape);
	onnx_emit_out(o->e, node, onnx_out_output(o, 0));
	return 0;
}

const struct onnx_form onnx_forms_layer[] = {
	{"BatchNormalization", store_batch_norm},
	{"Bitwise", store_bitwise},
	{"Clip", store_clip},
	{"DFT", store_dft},
	{"Eltwise", store_eltwise},
	{"Gelu", store_gelu},
	{"FullyConnected", store_fully_connected},
	{"GRU", store_recurrent},
	{"GridSample", store_grid_sample},
	{"GroupNorm", store_group_norm},
	{"Hardmax", store_softmax},
	{"LRN", store_lrn},
	{"LSTM", store_recurrent},
	{"LogSoftmax", store_softmax},
	{"PReLU", store_prelu},
	{"RNN", store_recurrent},
	{"ReLu", store_relu},
	{"ReLu6", store_relu6},
	{"Softmax", store_softmax},
	{"Unary", store_unary},
	{NULL, NULL},
};
