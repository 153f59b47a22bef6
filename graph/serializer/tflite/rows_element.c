/* Operators that work element by element. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/tflite/layer.h"

/* A node of @op, under the transpose that made its input if there is one. */
static modser_sg_tensor *unary(const struct tflite_layer *x, const char *op,
			       modser_sg_tensor *t)
{
	modser_sg_tensor *planes = t != NULL ? tflite_planes_of(t) : NULL;

	if (planes != NULL)
		return tflite_unplane(&x->b, msd_build_one(&x->b, op, planes));
	return msd_build_one(&x->b, op, t);
}

static modser_sg_tensor *load_unary(const struct tflite_layer *x)
{
	return unary(x, x->row->op, tflite_value(x, 0));
}

static modser_sg_tensor *load_rsqrt(const struct tflite_layer *x)
{
	return unary(x, "Reciprocal", unary(x, "Sqrt", tflite_value(x, 0)));
}

static modser_sg_tensor *load_square(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);

	return msd_build_two(&x->b, "Mul", t, t);
}

/* Input @i for an operator on planes; NULL: it has none. *@ret_made: it is no constant.
 */
static modser_sg_tensor *planes_operand(const struct tflite_layer *x, size_t i,
					modser_sg_tensor *value, bool *ret_made)
{
	modser_sg_tensor *planes = tflite_planes_of(value);

	*ret_made = planes != NULL;
	return planes != NULL ? planes : tflite_constant_planes(x, i);
}

/* Two values, under their transposes if one has it and the other can; then the
 * activation of field 0 of the options if there @is_activated. */
static modser_sg_tensor *binary(const struct tflite_layer *x, const char *op,
				bool is_activated)
{
	modser_sg_tensor *t;
	modser_sg_tensor *const in[] = {tflite_value(x, 0), tflite_value(x, 1)};
	modser_sg_tensor *planes[2];
	bool made[2];

	if (in[0] == NULL || in[1] == NULL)
		return NULL;
	for (size_t i = 0; i < 2; i++)
		planes[i] = planes_operand(x, i, in[i], &made[i]);
	const bool is_planes =
		planes[0] != NULL && planes[1] != NULL && (made[0] || made[1]);
	t = msd_build_two(&x->b, op, is_planes ? planes[0] : in[0],
			  is_planes ? planes[1] : in[1]);
	if (t != NULL && is_activated)
		t = tflite_activate(x, t, 0);
	return is_planes ? tflite_unplane(&x->b, t) : t;
}

static modser_sg_tensor *load_binary(const struct tflite_layer *x)
{
	return binary(x, x->row->op, false);
}

static modser_sg_tensor *load_arithmetic(const struct tflite_layer *x)
{
	return binary(x, x->row->op, true);
}

static modser_sg_tensor *load_typed(const struct tflite_layer *x)
{
	modser_sg_tensor *a = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {a, a != NULL ? tflite_value(x, 1) : NULL};
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, in, 2);

	return msd_build_done(msd_build_int(t, "type", x->row->type));
}

static modser_sg_tensor *load_not_equal(const struct tflite_layer *x)
{
	return msd_build_one(&x->b, "Not", load_typed(x));
}

static bool is_float(const modser_sg_tensor *t)
{
	return strncmp(t->dtype_name, "float", 5) == 0;
}

/* Integers are divided as float64, which has all of int32. */
static modser_sg_tensor *load_floor_div(const struct tflite_layer *x)
{
	modser_sg_tensor *a = tflite_value(x, 0);
	modser_sg_tensor *b = a != NULL ? tflite_value(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	if (is_float(a))
		return msd_build_one(&x->b, "Floor", msd_build_two(&x->b, "Div", a, b));
	if (strcmp(a->dtype_name, "int64") == 0)
		return tflite_fail(x, "numbers of int64 cannot be divided");
	const char *dtype = tflite_out_dtype(x, 0);
	a = tflite_cast(x, a, "float64");
	b = tflite_cast(x, b, "float64");
	a = msd_build_one(&x->b, "Floor", msd_build_two(&x->b, "Div", a, b));
	return tflite_cast(x, a, dtype);
}

/* ONNX has no operator for it. */
static modser_sg_tensor *load_squared_difference(const struct tflite_layer *x)
{
	modser_sg_tensor *t = load_binary(x);
	modser_sg_tensor *planes = t != NULL ? tflite_planes_of(t) : NULL;

	if (planes == NULL)
		return msd_build_two(&x->b, "Mul", t, t);
	return tflite_unplane(&x->b, msd_build_two(&x->b, "Mul", planes, planes));
}

static modser_sg_tensor *load_floor_mod(const struct tflite_layer *x)
{
	modser_sg_tensor *a = tflite_value(x, 0);
	modser_sg_tensor *b = a != NULL ? tflite_value(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	if (!is_float(a))
		return msd_build_two(&x->b, "Mod", a, b);
	modser_sg_tensor *t =
		msd_build_one(&x->b, "Floor", msd_build_two(&x->b, "Div", a, b));
	return msd_build_two(&x->b, "Sub", a, msd_build_two(&x->b, "Mul", t, b));
}

static modser_sg_tensor *load_range_of(const struct tflite_layer *x)
{
	static const float limits[][2] = {{-1, 1}, {0, 6}, {0, 1}};
	modser_sg_tensor *t = tflite_value(x, 0);
	modser_sg_tensor *planes = t != NULL ? tflite_planes_of(t) : NULL;
	const float *limit = limits[x->row->type];

	if (planes == NULL)
		return t != NULL ? tflite_clip(x, t, limit[0], limit[1]) : NULL;
	return tflite_unplane(&x->b, tflite_clip(x, planes, limit[0], limit[1]));
}

/* A node of the row's operator, whose parameters are to be set; *@ret_planes: its input
 * is planes, and finish() transposes its output. */
static modser_sg_tensor *function(const struct tflite_layer *x, bool *ret_planes)
{
	modser_sg_tensor *value = tflite_value(x, 0);
	modser_sg_tensor *planes = value != NULL ? tflite_planes_of(value) : NULL;

	*ret_planes = planes != NULL;
	return msd_build_node(&x->b, x->row->op, planes != NULL ? &planes : &value, 1);
}

static modser_sg_tensor *finish(const struct tflite_layer *x, modser_sg_tensor *t,
				bool is_planes)
{
	t = msd_build_done(t);
	return is_planes ? tflite_unplane(&x->b, t) : t;
}

static modser_sg_tensor *load_leaky_relu(const struct tflite_layer *x)
{
	bool is_planes;
	modser_sg_tensor *t = function(x, &is_planes);

	t = msd_build_float(t, "negative_slope", flat_f32(x->f, &x->options, 0, 0));
	return finish(x, t, is_planes);
}

static modser_sg_tensor *load_prelu(const struct tflite_layer *x)
{
	modser_sg_tensor *a = tflite_value(x, 0);
	modser_sg_tensor *const in[] = {a, a != NULL ? tflite_value(x, 1) : NULL};
	modser_sg_tensor *t = msd_build_node(&x->b, "PReLU", in, 2);

	return msd_build_done(msd_build_int(t, "broadcasts", 1));
}

static modser_sg_tensor *load_elu(const struct tflite_layer *x)
{
	bool is_planes;
	modser_sg_tensor *t = function(x, &is_planes);

	return finish(x, msd_build_float(t, "alpha", 1), is_planes);
}

static modser_sg_tensor *load_hard_swish(const struct tflite_layer *x)
{
	bool is_planes;
	modser_sg_tensor *t = function(x, &is_planes);

	t = msd_build_float(msd_build_float(t, "alpha", 1.0f / 6), "beta", 0.5f);
	return finish(x, t, is_planes);
}

static modser_sg_tensor *load_gelu(const struct tflite_layer *x)
{
	const bool is_near = flat_u8(x->f, &x->options, 0, 0) != 0;
	bool is_planes;
	modser_sg_tensor *t = function(x, &is_planes);

	t = msd_build_text(t, "approximate", is_near ? "tanh" : "none");
	return finish(x, t, is_planes);
}

static modser_sg_tensor *load_softmax(const struct tflite_layer *x)
{
	const float beta = x->row->type == 0 ? flat_f32(x->f, &x->options, 0, 0) : 1;
	modser_sg_tensor *value = tflite_value(x, 0);

	if (value != NULL && beta != 1) {
		value = msd_build_two(&x->b, "Mul", value,
				      msd_build_number(&x->b, beta));
	}
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, &value, 1);
	return msd_build_done(msd_build_int(t, "axis", -1));
}

/* The quantized form of the output differs, or there is one on one side only. */
static modser_sg_tensor *load_value(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);

	if (t != NULL && strcmp(t->dtype_name, "float16") == 0)
		return tflite_cast(x, t, "float32");
	return t;
}

static modser_sg_tensor *load_cast(const struct tflite_layer *x)
{
	return tflite_cast(x, tflite_value(x, 0), tflite_out_dtype(x, 0));
}

/* A condition of one dimension chooses whole rows. */
static modser_sg_tensor *load_select(const struct tflite_layer *x)
{
	modser_sg_tensor *in[] = {tflite_value(x, 0), NULL, NULL};
	const size_t ndim = tflite_ndim(x, 1);

	for (size_t i = 1; i < 3 && in[i - 1] != NULL; i++)
		in[i] = tflite_value(x, i);
	if (in[2] == NULL)
		return NULL;
	if (x->row->type == 1 && tflite_ndim(x, 0) == 1 && ndim > 1) {
		int64_t axes[MODSER_GRAPH_MAX_NDIM];

		for (size_t i = 1; i < ndim; i++)
			axes[i - 1] = (int64_t)i;
		in[0] = msd_build_two(&x->b, "Unsqueeze", in[0],
				      msd_build_ints(&x->b, axes, ndim - 1));
	}
	return msd_build_done(msd_build_node(&x->b, "Where", in, 3));
}

static modser_sg_tensor *load_add_n(const struct tflite_layer *x)
{
	modser_sg_tensor *t = tflite_value(x, 0);

	for (size_t i = 1; t != NULL && i < x->in.n; i++)
		t = msd_build_two(&x->b, "Add", t, tflite_value(x, i));
	return t;
}

#define UNARY(code, name, op)                                                          \
	{                                                                              \
		(code), (name), 1, 1, load_unary, NULL, (op), 0                        \
	}
#define BINARY(code, name, function, op, type)                                         \
	{                                                                              \
		(code), (name), 2, 2, (function), NULL, (op), (type)                   \
	}
const struct tflite_row tflite_rows_element[] = {
	BINARY(0, "ADD", load_arithmetic, "Add", 0),
	{6, "DEQUANTIZE", 1, 1, .one = load_value},
	UNARY(8, "FLOOR", "Floor"),
	UNARY(14, "LOGISTIC", "Sigmoid"),
	BINARY(18, "MUL", load_arithmetic, "Mul", 0),
	UNARY(19, "RELU", "ReLu"),
	{20, "RELU_N1_TO_1", 1, 1, .one = load_range_of, .type = 0},
	{21, "RELU6", 1, 1, .one = load_range_of, .type = 1},
	{25, "SOFTMAX", 1, 1, .one = load_softmax, .op = "Softmax"},
	UNARY(28, "TANH", "Tanh"),
	BINARY(41, "SUB", load_arithmetic, "Sub", 0),
	BINARY(42, "DIV", load_arithmetic, "Div", 0),
	UNARY(47, "EXP", "Exp"),
	{50, "LOG_SOFTMAX", 1, 1, .one = load_softmax, .op = "LogSoftmax", .type = 1},
	{53, "CAST", 1, 1, .one = load_cast},
	{54, "PRELU", 2, 2, .one = load_prelu},
	BINARY(55, "MAXIMUM", load_binary, "Maximum", 0),
	BINARY(57, "MINIMUM", load_binary, "Minimum", 0),
	BINARY(58, "LESS", load_typed, "Comparison", 4),
	UNARY(59, "NEG", "Neg"),
	BINARY(61, "GREATER", load_typed, "Comparison", 2),
	BINARY(62, "GREATER_EQUAL", load_typed, "Comparison", 3),
	BINARY(63, "LESS_EQUAL", load_typed, "Comparison", 5),
	{64, "SELECT", 3, 3, .one = load_select, .type = 1},
	UNARY(66, "SIN", "Sin"),
	BINARY(71, "EQUAL", load_typed, "Comparison", 0),
	BINARY(72, "NOT_EQUAL", load_not_equal, "Comparison", 0),
	UNARY(73, "LOG", "Log"),
	UNARY(75, "SQRT", "Sqrt"),
	{76, "RSQRT", 1, 1, .one = load_rsqrt},
	BINARY(78, "POW", load_binary, "Pow", 0),
	BINARY(84, "LOGICAL_OR", load_typed, "Logical", 1),
	BINARY(86, "LOGICAL_AND", load_typed, "Logical", 0),
	UNARY(87, "LOGICAL_NOT", "Not"),
	BINARY(90, "FLOOR_DIV", load_floor_div, NULL, 0),
	{92, "SQUARE", 1, 1, .one = load_square},
	BINARY(95, "FLOOR_MOD", load_floor_mod, NULL, 0),
	{98, "LEAKY_RELU", 1, 1, .one = load_leaky_relu, .op = "ReLu"},
	BINARY(99, "SQUARED_DIFFERENCE", load_squared_difference, "Sub", 0),
	UNARY(101, "ABS", "Absval"),
	UNARY(104, "CEIL", "Ceil"),
	{106, "ADD_N", 1, TFLITE_MANY, .one = load_add_n},
	UNARY(108, "COS", "Cos"),
	{111, "ELU", 1, 1, .one = load_elu, .op = "Elu"},
	{114, "QUANTIZE", 1, 1, .one = load_value},
	UNARY(116, "ROUND", "Round"),
	{117, "HARD_SWISH", 1, 1, .one = load_hard_swish, .op = "HardSwish"},
	{123, "SELECT_V2", 3, 3, .one = load_select},
	{150, "GELU", 1, 1, .one = load_gelu, .op = "Gelu"},
	{152, "RELU_0_TO_1", 1, 1, .one = load_range_of, .type = 2},
	UNARY(158, "SIGN", "Sign"),
	{0},
};
