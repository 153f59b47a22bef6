/* Operators that work element by element. */
#include <math.h>
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/build/compose.h"
#include "graph/serializer/tensorflow/layer.h"

/* A node of @op, under the transpose that made its input if there is one. */
static modser_sg_tensor *unary(const struct tf_layer *x, const char *op,
			       modser_sg_tensor *t)
{
	modser_sg_tensor *planes = t != NULL ? tf_planes_of(t) : NULL;

	if (planes != NULL)
		return tf_to_nhwc(x, tf_one(x, op, planes));
	return tf_one(x, op, t);
}

static modser_sg_tensor *load_unary(struct tf_layer *x)
{
	return unary(x, x->row->op, tf_in(x, 0));
}

static modser_sg_tensor *load_rsqrt(struct tf_layer *x)
{
	return unary(x, "Reciprocal", unary(x, "Sqrt", tf_in(x, 0)));
}

/* @t, which has one number for each channel or one number, for planes. */
static modser_sg_tensor *for_planes(const struct tf_layer *x, modser_sg_tensor *t)
{
	int64_t dims[] = {1, 1, 1};

	if (t->ndim == 0)
		return t;
	if (t->ndim < 0 || t->ndim > 4)
		return NULL;
	for (int i = 0; i + 1 < t->ndim; i++) {
		if (t->dims[i] != 1)
			return NULL;
	}
	dims[0] = t->dims[t->ndim - 1];
	return dims[0] < 0 ? NULL : tf_reshape(x, t, dims, 3);
}

/* Two tensors, under their transposes if both have one, or one is of channels. */
static modser_sg_tensor *binary(const struct tf_layer *x, const char *op,
				modser_sg_tensor *a, modser_sg_tensor *b)
{
	if (a == NULL || b == NULL)
		return NULL;
	modser_sg_tensor *planes[] = {tf_planes_of(a), tf_planes_of(b)};
	if (planes[0] != NULL && planes[1] == NULL) {
		planes[1] = for_planes(x, b);
	} else if (planes[1] != NULL && planes[0] == NULL) {
		planes[0] = for_planes(x, a);
	}
	if (planes[0] != NULL && planes[1] != NULL)
		return tf_to_nhwc(x, tf_two(x, op, planes[0], planes[1]));
	return tf_two(x, op, a, b);
}

static modser_sg_tensor *load_binary(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);

	return a != NULL ? binary(x, x->row->op, a, tf_in(x, 1)) : NULL;
}

static modser_sg_tensor *load_square(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return binary(x, "Mul", t, t);
}

/* The convolution @from with a bias; @from has no reader then, and is removed. */
static modser_sg_tensor *with_bias(const struct tf_layer *x, const modser_sg_node *from,
				   modser_sg_tensor *bias)
{
	static const char *const params[] = {
		"kernel_h",       "kernel_w",      "stride_h", "stride_w", "dilation_h",
		"dilation_w",     "input_channel", "group",    "pad_h0",   "pad_w0",
		"output_channel", "pad_h1",        "pad_w1"};
	modser_sg_tensor *const in[] = {from->inputs[0], from->inputs[1], bias};
	modser_sg_tensor *t = msd_build_node(&x->b, "Convolution", in, 3);

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++)
		t = msd_build_int(t, params[i], modser_sg_op_int(from->op, params[i]));
	return tf_done(t);
}

/* ONNX has no operator for it. */
static modser_sg_tensor *load_squared_difference(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *t = a != NULL ? binary(x, "Sub", a, tf_in(x, 1)) : NULL;

	return binary(x, "Mul", t, t);
}

/* A convolution with one reader takes the bias itself. */
static modser_sg_tensor *load_bias(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *bias = t != NULL ? tf_in(x, 1) : NULL;
	struct tf_link from;

	if (bias == NULL || !tf_input_of(x->f->body, x->at, 0, &from))
		return NULL;
	modser_sg_tensor *planes = tf_is_nhwc(x) ? tf_planes_of(t) : t;
	modser_sg_node *node = planes != NULL ? planes->producer : NULL;
	const bool is_convolution =
		node != NULL && node->op != NULL && node->n_inputs == 2 &&
		strcmp(modser_sg_op_name(node->op), "Convolution") == 0;
	if (is_convolution && tf_is_const(bias) && !from.is_arg &&
	    x->f->body->uses[from.at] == 1)
		return tf_unplane(x, with_bias(x, node, bias));
	if (tf_is_nhwc(x))
		return binary(x, "Add", t, bias);
	const int64_t dims[] = {-1, 1, 1};
	return tf_two(x, "Add", t, tf_reshape(x, bias, dims, 3));
}

static modser_sg_tensor *load_add_n(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	for (size_t i = 1; t != NULL && i < x->n_in; i++)
		t = binary(x, "Add", t, tf_in(x, i));
	return t;
}

static modser_sg_tensor *to_bool(modser_sg_tensor *t)
{
	return t != NULL && modser_sg_tensor_set_dtype(t, "bool") == 0 ? t : NULL;
}

static modser_sg_tensor *load_typed(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *const in[] = {a, a != NULL ? tf_in(x, 1) : NULL};
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, in, 2);

	return to_bool(tf_done(msd_build_int(t, "type", x->row->type)));
}

static modser_sg_tensor *load_not_equal(struct tf_layer *x)
{
	return to_bool(tf_one(x, "Not", load_typed(x)));
}

static modser_sg_tensor *load_not(struct tf_layer *x)
{
	return to_bool(tf_one(x, "Not", tf_in(x, 0)));
}

static bool is_float(const modser_sg_tensor *t)
{
	return strstr(t->dtype_name, "float") != NULL;
}

/* Integers are divided as float64, which has all of int32. */
static modser_sg_tensor *divide_whole(const struct tf_layer *x, const char *round)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *b = a != NULL ? tf_in(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	const char *dtype = a->dtype_name;
	if (is_float(a))
		return tf_one(x, round, tf_two(x, "Div", a, b));
	if (strcmp(dtype, "int64") == 0 && strcmp(round, "Floor") != 0)
		return tf_two(x, "Div", a, b);
	a = tf_cast(x, a, "float64");
	b = tf_cast(x, b, "float64");
	return tf_cast(x, tf_one(x, round, tf_two(x, "Div", a, b)),
		       tf_in(x, 0)->dtype_name);
}

static modser_sg_tensor *load_floor_div(struct tf_layer *x)
{
	return divide_whole(x, "Floor");
}

/* Div of integers, and TruncateDiv: towards zero. */
static modser_sg_tensor *load_div(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);

	if (a == NULL)
		return NULL;
	return is_float(a) ? binary(x, "Div", a, tf_in(x, 1))
			   : tf_two(x, "Div", a, tf_in(x, 1));
}

static modser_sg_tensor *load_floor_mod(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *b = a != NULL ? tf_in(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	if (!is_float(a))
		return tf_two(x, "Mod", a, b);
	modser_sg_tensor *t = tf_one(x, "Floor", tf_two(x, "Div", a, b));
	return tf_two(x, "Sub", a, tf_two(x, "Mul", t, b));
}

/* 0 where the divisor is 0. */
static modser_sg_tensor *load_div_no_nan(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *b = a != NULL ? tf_in(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	modser_sg_tensor *zero = tf_number(x, 0, b->dtype_name);
	modser_sg_tensor *const same[] = {b, zero};
	modser_sg_tensor *is_zero = to_bool(tf_done(msd_build_int(
		msd_build_node(&x->b, "Comparison", same, 2), "type", 0)));
	modser_sg_tensor *const in[] = {is_zero, zero,
					x->row->type == 1 ? tf_two(x, "Mul", a, b)
							  : tf_two(x, "Div", a, b)};
	return tf_done(msd_build_node(&x->b, "Where", in, 3));
}

static modser_sg_tensor *load_relu6(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *planes = t != NULL ? tf_planes_of(t) : NULL;

	return planes != NULL ? tf_to_nhwc(x, tf_clip(x, planes, 0, 6))
			      : tf_clip(x, t, 0, 6);
}

/* A node with one float parameter, under the transpose of its input. */
static modser_sg_tensor *with_float(const struct tf_layer *x, const char *op,
				    const char *param, float v)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *planes = t != NULL ? tf_planes_of(t) : NULL;
	modser_sg_tensor *in = planes != NULL ? planes : t;
	modser_sg_tensor *made =
		tf_done(msd_build_float(msd_build_node(&x->b, op, &in, 1), param, v));

	return planes != NULL ? tf_to_nhwc(x, made) : made;
}

static modser_sg_tensor *load_leaky_relu(struct tf_layer *x)
{
	return with_float(x, "ReLu", "negative_slope", tf_float(x, "alpha", 0.2f));
}

static modser_sg_tensor *load_elu(struct tf_layer *x)
{
	return with_float(x, "Elu", "alpha", 1);
}

static modser_sg_tensor *load_selu(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *made = msd_build_node(&x->b, "Selu", &t, 1);

	made = msd_build_float(made, "alpha", 1.67326324235437728f);
	return tf_done(msd_build_float(made, "lambda", 1.05070098735548049f));
}

static modser_sg_tensor *load_softmax(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return tf_done(
		msd_build_int(msd_build_node(&x->b, x->row->op, &t, 1), "axis", -1));
}

static modser_sg_tensor *load_value(struct tf_layer *x)
{
	return tf_in(x, 0);
}

static modser_sg_tensor *load_cast(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	const char *dtype = t != NULL ? tf_type(x, "DstT") : NULL;

	return dtype != NULL ? tf_cast(x, t, dtype) : NULL;
}

/* A condition of one dimension chooses whole rows in Select. */
static modser_sg_tensor *load_select(struct tf_layer *x)
{
	modser_sg_tensor *in[] = {tf_in(x, 0), NULL, NULL};

	for (size_t i = 1; i < 3 && in[i - 1] != NULL; i++)
		in[i] = tf_in(x, i);
	if (in[2] == NULL)
		return NULL;
	if (x->row->type == 1 && in[0]->ndim == 1 && in[1]->ndim > 1) {
		int64_t axes[MODSER_GRAPH_MAX_NDIM];

		for (int i = 1; i < in[1]->ndim; i++)
			axes[i - 1] = i;
		in[0] = tf_with_axes(x, "Unsqueeze", in[0], axes,
				     (size_t)in[1]->ndim - 1);
	}
	modser_sg_tensor *t = tf_done(msd_build_node(&x->b, "Where", in, 3));
	return t != NULL && !t->has_dtype &&
			       modser_sg_tensor_set_dtype(t, in[1]->dtype_name) != 0
		       ? NULL
		       : t;
}

static modser_sg_tensor *load_clip(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *min = t != NULL ? tf_in(x, 1) : NULL;
	modser_sg_tensor *max = min != NULL ? tf_in(x, 2) : NULL;

	return max != NULL ? binary(x, "Minimum", binary(x, "Maximum", t, min), max)
			   : NULL;
}

static modser_sg_tensor *load_expm1(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_one(x, "Exp", tf_in(x, 0));

	return t != NULL ? tf_two(x, "Sub", t, tf_number(x, 1, t->dtype_name)) : NULL;
}

static modser_sg_tensor *load_log1p(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);

	return t != NULL ? tf_one(x, "Log",
				  tf_two(x, "Add", t, tf_number(x, 1, t->dtype_name)))
			 : NULL;
}

static modser_sg_tensor *load_erfc(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_one(x, "Erf", tf_in(x, 0));

	return t != NULL ? tf_two(x, "Sub", tf_number(x, 1, t->dtype_name), t) : NULL;
}

/* The float that a scalar constant is. */
static bool scalar(const struct tf_layer *x, size_t i, float *ret)
{
	const modser_sg_tensor *t = tf_in(x, i);

	if (t == NULL)
		return false;
	if (!tf_is_const(t) || strcmp(t->dtype_name, "float32") != 0 || t->bytes != 4) {
		(void)tf_fail(x, "input %zu is not one constant float", i);
		return false;
	}
	memcpy(ret, t->data, sizeof(*ret));
	return true;
}

/* Round to steps between two limits, of which 0 is one. */
static modser_sg_tensor *fake(const struct tf_layer *x, float min, float max)
{
	const int64_t bits = tf_int(x, "num_bits", 8);
	const float low = tf_bool(x, "narrow_range", false) ? 1 : 0;
	modser_sg_tensor *t = tf_in(x, 0);

	if (bits < 2 || bits > 16 || !(min < max)) {
		return tf_fail(x, "%d bits between %g and %g", (int)bits, (double)min,
			       (double)max);
	}
	const float high = (float)((1 << bits) - 1);
	const float scale = (max - min) / (high - low);
	const float zero = low - min / scale;
	const float at = zero < low ? low : zero > high ? high : roundf(zero);
	const float from = (low - at) * scale;
	modser_sg_tensor *step = msd_build_number(&x->b, scale);
	modser_sg_tensor *first = msd_build_number(&x->b, from);
	t = tf_two(x, "Sub", tf_clip(x, t, from, (high - at) * scale), first);
	t = tf_two(x, "Mul", t, msd_build_number(&x->b, 1 / scale));
	t = tf_two(x, "Add", t, msd_build_number(&x->b, 0.5f));
	t = tf_two(x, "Mul", tf_one(x, "Floor", t), step);
	return tf_two(x, "Add", t, first);
}

static modser_sg_tensor *load_fake_args(struct tf_layer *x)
{
	return fake(x, tf_float(x, "min", -6), tf_float(x, "max", 6));
}

static modser_sg_tensor *load_fake_vars(struct tf_layer *x)
{
	float min;
	float max;

	return scalar(x, 1, &min) && scalar(x, 2, &max) ? fake(x, min, max) : NULL;
}

static modser_sg_tensor *load_is_finite(struct tf_layer *x)
{
	modser_sg_tensor *t = tf_in(x, 0);
	modser_sg_tensor *const in[] = {to_bool(tf_one(x, "IsNaN", t)),
					to_bool(tf_one(x, "IsInf", t))};
	modser_sg_tensor *either = to_bool(tf_done(
		msd_build_int(msd_build_node(&x->b, "Logical", in, 2), "type", 1)));

	return to_bool(tf_one(x, "Not", either));
}

static modser_sg_tensor *load_atan2(struct tf_layer *x)
{
	modser_sg_tensor *y = tf_in(x, 0);
	modser_sg_tensor *t = y != NULL ? tf_in(x, 1) : NULL;

	if (t == NULL || strcmp(y->dtype_name, "float32") == 0)
		return msd_build_atan2(&x->b, y, t);
	t = msd_build_atan2(&x->b, tf_cast(x, y, "float32"), tf_cast(x, t, "float32"));
	return tf_cast(x, t, y->dtype_name);
}

enum { X_LOG_Y, X_LOG_Y_1, X_BY_Y };

/* 0 where x is 0, whatever y is. */
static modser_sg_tensor *load_guarded(struct tf_layer *x)
{
	modser_sg_tensor *a = tf_in(x, 0);
	modser_sg_tensor *b = a != NULL ? tf_in(x, 1) : NULL;

	if (b == NULL)
		return NULL;
	modser_sg_tensor *zero = tf_number(x, 0, a->dtype_name);
	modser_sg_tensor *is_zero =
		msd_build_compare(&x->b, MSD_COMPARE_EQUAL, a, zero);
	if (x->row->type == X_LOG_Y_1)
		b = tf_two(x, "Add", b, tf_number(x, 1, a->dtype_name));
	b = x->row->type == X_BY_Y ? tf_two(x, "Div", a, b)
				   : tf_two(x, "Mul", a, tf_one(x, "Log", b));
	return msd_build_choose(&x->b, is_zero, zero, b);
}

#define UNARY(name, op)                                                                \
	{                                                                              \
		(name), 1, 1, load_unary, NULL, (op), 0, false                         \
	}
#define BINARY(name, function, op, type)                                               \
	{                                                                              \
		(name), 2, 2, (function), NULL, (op), (type), false                    \
	}
const struct tf_row tf_rows_element[] = {
	UNARY("Abs", "Absval"),
	UNARY("Acos", "Acos"),
	UNARY("Acosh", "Acosh"),
	BINARY("Add", load_binary, "Add", 0),
	{"AddN", 1, TF_MANY, .one = load_add_n},
	BINARY("AddV2", load_binary, "Add", 0),
	UNARY("Asin", "Asin"),
	UNARY("Asinh", "Asinh"),
	UNARY("Atan", "Atan"),
	BINARY("Atan2", load_atan2, NULL, 0),
	UNARY("Atanh", "Atanh"),
	{"BiasAdd", 2, 2, .one = load_bias},
	{"Cast", 1, 1, .one = load_cast},
	UNARY("Ceil", "Ceil"),
	{"CheckNumerics", 1, 1, .one = load_value},
	{"ClipByValue", 3, 3, .one = load_clip},
	UNARY("Cos", "Cos"),
	UNARY("Cosh", "Cosh"),
	BINARY("Div", load_div, "Div", 0),
	BINARY("DivNoNan", load_div_no_nan, "Div", 0),
	{"Elu", 1, 1, .one = load_elu},
	BINARY("Equal", load_typed, "Comparison", 0),
	UNARY("Erf", "Erf"),
	{"Erfc", 1, 1, .one = load_erfc},
	UNARY("Exp", "Exp"),
	{"Expm1", 1, 1, .one = load_expm1},
	{"FakeQuantWithMinMaxArgs", 1, 1, .one = load_fake_args},
	{"FakeQuantWithMinMaxVars", 3, 3, .one = load_fake_vars},
	UNARY("Floor", "Floor"),
	BINARY("FloorDiv", load_floor_div, NULL, 0),
	BINARY("FloorMod", load_floor_mod, NULL, 0),
	BINARY("Greater", load_typed, "Comparison", 2),
	BINARY("GreaterEqual", load_typed, "Comparison", 3),
	UNARY("Inv", "Reciprocal"),
	{"IsFinite", 1, 1, .one = load_is_finite},
	UNARY("IsInf", "IsInf"),
	UNARY("IsNan", "IsNaN"),
	{"LeakyRelu", 1, 1, .one = load_leaky_relu},
	BINARY("Less", load_typed, "Comparison", 4),
	BINARY("LessEqual", load_typed, "Comparison", 5),
	UNARY("Log", "Log"),
	{"Log1p", 1, 1, .one = load_log1p},
	{"LogSoftmax", 1, 1, .one = load_softmax, .op = "LogSoftmax"},
	BINARY("LogicalAnd", load_typed, "Logical", 0),
	{"LogicalNot", 1, 1, .one = load_not},
	BINARY("LogicalOr", load_typed, "Logical", 1),
	BINARY("Maximum", load_binary, "Maximum", 0),
	BINARY("Minimum", load_binary, "Minimum", 0),
	BINARY("Mul", load_binary, "Mul", 0),
	BINARY("MulNoNan", load_div_no_nan, "Mul", 1),
	UNARY("Neg", "Neg"),
	BINARY("NotEqual", load_not_equal, "Comparison", 0),
	BINARY("Pow", load_binary, "Pow", 0),
	BINARY("RealDiv", load_div, "Div", 0),
	UNARY("Reciprocal", "Reciprocal"),
	UNARY("Relu", "ReLu"),
	{"Relu6", 1, 1, .one = load_relu6},
	UNARY("Rint", "Round"),
	UNARY("Round", "Round"),
	{"Rsqrt", 1, 1, .one = load_rsqrt},
	{"Select", 3, 3, .one = load_select, .type = 1},
	{"SelectV2", 3, 3, .one = load_select},
	{"Selu", 1, 1, .one = load_selu},
	UNARY("Sigmoid", "Sigmoid"),
	UNARY("Sign", "Sign"),
	UNARY("Sin", "Sin"),
	UNARY("Sinh", "Sinh"),
	{"Softmax", 1, 1, .one = load_softmax, .op = "Softmax"},
	UNARY("Softplus", "Softplus"),
	UNARY("Softsign", "Softsign"),
	UNARY("Sqrt", "Sqrt"),
	{"Square", 1, 1, .one = load_square},
	BINARY("SquaredDifference", load_squared_difference, NULL, 0),
	BINARY("Sub", load_binary, "Sub", 0),
	UNARY("Tan", "Tan"),
	UNARY("Tanh", "Tanh"),
	BINARY("TruncateDiv", load_div, "Div", 0),
	BINARY("Xdivy", load_guarded, NULL, X_BY_Y),
	BINARY("Xlog1py", load_guarded, NULL, X_LOG_Y_1),
	BINARY("Xlogy", load_guarded, NULL, X_LOG_Y),
	{0},
};
#undef UNARY
#undef BINARY
