/* Operators that work element by element. */
#include <string.h>

#include "graph/ir/graph.h"
#include "graph/serializer/mxnet/layer.h"

static modser_sg_tensor *load_unary(struct mxnet_layer *x)
{
	return msd_build_one(&x->b, x->row->op, x->in[0].t);
}

static modser_sg_tensor *load_rsqrt(struct mxnet_layer *x)
{
	return msd_build_one(&x->b, "Reciprocal",
			     msd_build_one(&x->b, "Sqrt", x->in[0].t));
}

static modser_sg_tensor *load_square(struct mxnet_layer *x)
{
	return msd_build_two(&x->b, "Mul", x->in[0].t, x->in[0].t);
}

static void widen(struct mxnet_layer *x)
{
	for (size_t i = 0; i < x->n_in; i++) {
		if (x->in[i].ndim > x->ndim && x->ndim >= 0)
			x->ndim = x->in[i].ndim;
		if (x->in[i].ndim < 0)
			x->ndim = -1;
	}
}

static modser_sg_tensor *load_binary(struct mxnet_layer *x)
{
	widen(x);
	return msd_build_two(&x->b, x->row->op, x->in[0].t, x->in[1].t);
}

/* MXNet's comparisons have the element type of their inputs. */
static modser_sg_tensor *compare(struct mxnet_layer *x, modser_sg_tensor *a,
				 modser_sg_tensor *b)
{
	modser_sg_tensor *const in[] = {a, b};
	modser_sg_tensor *t = msd_build_node(&x->b, x->row->op, in, 2);

	t = msd_build_done(
		msd_build_int(t, "type", x->row->type < 0 ? 0 : x->row->type));
	if (x->row->type < 0) /* not equal */
		t = msd_build_one(&x->b, "Not", t);
	return mxnet_cast(x, t, "float32");
}

static modser_sg_tensor *load_compare(struct mxnet_layer *x)
{
	widen(x);
	return compare(x, x->in[0].t, x->in[1].t);
}

/* The number in attribute scalar, with the element type of the input. */
static modser_sg_tensor *scalar(struct mxnet_layer *x)
{
	double v;

	if (!mxnet_float(x, "scalar", 1, &v))
		return NULL;
	return mxnet_cast(x, msd_build_number(&x->b, (float)v),
			  x->in[0].t->has_dtype ? x->in[0].t->dtype_name : "float32");
}

static modser_sg_tensor *load_scalar(struct mxnet_layer *x)
{
	modser_sg_tensor *v = scalar(x);
	const bool is_reversed = x->row->type != 0;

	return msd_build_two(&x->b, x->row->op, is_reversed ? v : x->in[0].t,
			     is_reversed ? x->in[0].t : v);
}

static modser_sg_tensor *load_compare_scalar(struct mxnet_layer *x)
{
	return compare(x, x->in[0].t, scalar(x));
}

static modser_sg_tensor *load_sum(struct mxnet_layer *x)
{
	modser_sg_tensor *t = x->in[0].t;

	for (size_t i = 1; i < x->n_in; i++)
		t = msd_build_two(&x->b, "Add", t, x->in[i].t);
	return t;
}

static modser_sg_tensor *load_activation(struct mxnet_layer *x)
{
	static const char *const names[][2] = {
		{"relu", "ReLu"},         {"sigmoid", "Sigmoid"},   {"tanh", "Tanh"},
		{"softrelu", "Softplus"}, {"softsign", "Softsign"}, {"mish", "Mish"}};

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (mxnet_is(x, "act_type", names[i][0], ""))
			return msd_build_one(&x->b, names[i][1], x->in[0].t);
	}
	return mxnet_fail(x, "act_type \"%.60s\" cannot be read",
			  mxnet_attr(x->node, "act_type"));
}

static modser_sg_tensor *with_float(struct mxnet_layer *x, const char *op,
				    const char *param, double v)
{
	modser_sg_tensor *t = msd_build_node(&x->b, op, &x->in[0].t, 1);

	return msd_build_done(msd_build_float(t, param, (float)v));
}

static modser_sg_tensor *load_leaky_relu(struct mxnet_layer *x)
{
	double slope;
	double lower;
	double upper;

	if (!mxnet_float(x, "slope", 0.25, &slope) ||
	    !mxnet_float(x, "lower_bound", 0.125, &lower) ||
	    !mxnet_float(x, "upper_bound", 0.334, &upper))
		return NULL;
	if (mxnet_is(x, "act_type", "leaky", "leaky"))
		return with_float(x, "ReLu", "negative_slope", slope);
	if (mxnet_is(x, "act_type", "rrelu", "leaky"))
		return with_float(x, "ReLu", "negative_slope", (lower + upper) / 2);
	if (mxnet_is(x, "act_type", "elu", "leaky"))
		return with_float(x, "Elu", "alpha", slope);
	if (mxnet_is(x, "act_type", "selu", "leaky"))
		return msd_build_one(&x->b, "Selu", x->in[0].t);
	if (mxnet_is(x, "act_type", "gelu", "leaky"))
		return msd_build_one(&x->b, "Gelu", x->in[0].t);
	if (mxnet_is(x, "act_type", "prelu", "leaky") && x->n_in == 2)
		return msd_build_two(&x->b, "PReLU", x->in[0].t, x->in[1].t);
	return mxnet_fail(x, "act_type \"%.60s\" cannot be read",
			  mxnet_attr(x->node, "act_type"));
}

static modser_sg_tensor *load_clip(struct mxnet_layer *x)
{
	double min;
	double max;

	if (!mxnet_float(x, "a_min", -3.4e38, &min) ||
	    !mxnet_float(x, "a_max", 3.4e38, &max))
		return NULL;
	modser_sg_tensor *const in[] = {x->in[0].t, msd_build_number(&x->b, (float)min),
					msd_build_number(&x->b, (float)max)};
	return msd_build_done(msd_build_node(&x->b, "Clip", in, 3));
}

static modser_sg_tensor *load_hard_sigmoid(struct mxnet_layer *x)
{
	double alpha;
	double beta;

	if (!mxnet_float(x, "alpha", 0.2, &alpha) ||
	    !mxnet_float(x, "beta", 0.5, &beta))
		return NULL;
	modser_sg_tensor *t = msd_build_node(&x->b, "Hardsigmoid", &x->in[0].t, 1);
	t = msd_build_float(t, "alpha", (float)alpha);
	return msd_build_done(msd_build_float(t, "beta", (float)beta));
}

static modser_sg_tensor *load_cast(struct mxnet_layer *x)
{
	const char *dtype = mxnet_attr(x->node, "dtype");

	return dtype != NULL ? mxnet_cast(x, x->in[0].t, dtype)
			     : mxnet_fail(x, "it has no dtype");
}

static modser_sg_tensor *load_identity(struct mxnet_layer *x)
{
	return x->in[0].t;
}

static modser_sg_tensor *load_where(struct mxnet_layer *x)
{
	modser_sg_tensor *const in[] = {mxnet_cast(x, x->in[0].t, "bool"), x->in[1].t,
					x->in[2].t};

	x->ndim = x->in[1].ndim;
	return msd_build_done(msd_build_node(&x->b, "Where", in, 3));
}

#define UNARY(name, op)                                                                \
	{                                                                              \
		(name), 1, 1, load_unary, NULL, (op), 0, 0                             \
	}
#define SAME(name)                                                                     \
	{                                                                              \
		(name), 1, 1, load_identity, NULL, NULL, 0, 0                          \
	}
#define BINARY(name, op)                                                               \
	{                                                                              \
		(name), 2, 2, load_binary, NULL, (op), 0, 0                            \
	}
#define SCALAR(name, op, is_reversed)                                                  \
	{                                                                              \
		(name), 1, 1, load_scalar, NULL, (op), (is_reversed), 0                \
	}
#define COMPARE(name, type)                                                            \
	{                                                                              \
		(name), 2, 2, load_compare, NULL, "Comparison", (type), 0              \
	}
#define COMPARE_SCALAR(name, type)                                                     \
	{                                                                              \
		(name), 1, 1, load_compare_scalar, NULL, "Comparison", (type), 0       \
	}
const struct mxnet_row mxnet_rows_element[] = {
	{"Activation", 1, 1, .one = load_activation},
	{"LeakyReLU", 1, 2, .one = load_leaky_relu},
	{"clip", 1, 1, .one = load_clip},
	{"hard_sigmoid", 1, 1, .one = load_hard_sigmoid},
	{"Cast", 1, 1, .one = load_cast},
	{"cast", 1, 1, .one = load_cast},
	{"amp_cast", 1, 1, .one = load_cast},
	{"where", 3, 3, .one = load_where},
	{"add_n", 1, MXNET_MANY, .one = load_sum},
	{"ElementWiseSum", 1, MXNET_MANY, .one = load_sum},
	{"rsqrt", 1, 1, .one = load_rsqrt},
	{"square", 1, 1, .one = load_square},
	SAME("_copy"),
	SAME("identity"),
	SAME("Dropout"),
	SAME("BlockGrad"),
	SAME("stop_gradient"),
	SAME("make_loss"),
	SAME("MakeLoss"),
	UNARY("relu", "ReLu"),
	UNARY("sigmoid", "Sigmoid"),
	UNARY("tanh", "Tanh"),
	UNARY("softsign", "Softsign"),
	UNARY("exp", "Exp"),
	UNARY("log", "Log"),
	UNARY("sqrt", "Sqrt"),
	UNARY("abs", "Absval"),
	UNARY("negative", "Neg"),
	UNARY("reciprocal", "Reciprocal"),
	UNARY("floor", "Floor"),
	UNARY("ceil", "Ceil"),
	UNARY("sign", "Sign"),
	UNARY("sin", "Sin"),
	UNARY("cos", "Cos"),
	UNARY("erf", "Erf"),
	UNARY("round", "Round"),
	UNARY("rint", "Round"),
	UNARY("tan", "Tan"),
	UNARY("arcsin", "Asin"),
	UNARY("arccos", "Acos"),
	UNARY("arctan", "Atan"),
	UNARY("sinh", "Sinh"),
	UNARY("cosh", "Cosh"),
	UNARY("arcsinh", "Asinh"),
	UNARY("arccosh", "Acosh"),
	UNARY("arctanh", "Atanh"),
	{"LinearRegressionOutput", 1, 1, .one = load_identity, .label = 1},
	{"MAERegressionOutput", 1, 1, .one = load_identity, .label = 1},
	{"LogisticRegressionOutput", 1, 1, .one = load_unary, .op = "Sigmoid",
	 .label = 1},
	BINARY("elemwise_add", "Add"),
	BINARY("_plus", "Add"),
	BINARY("_Plus", "Add"),
	BINARY("_add", "Add"),
	BINARY("broadcast_add", "Add"),
	BINARY("broadcast_plus", "Add"),
	BINARY("elemwise_sub", "Sub"),
	BINARY("_minus", "Sub"),
	BINARY("_Minus", "Sub"),
	BINARY("_sub", "Sub"),
	BINARY("broadcast_sub", "Sub"),
	BINARY("broadcast_minus", "Sub"),
	BINARY("elemwise_mul", "Mul"),
	BINARY("_mul", "Mul"),
	BINARY("_Mul", "Mul"),
	BINARY("broadcast_mul", "Mul"),
	BINARY("elemwise_div", "Div"),
	BINARY("_div", "Div"),
	BINARY("_Div", "Div"),
	BINARY("broadcast_div", "Div"),
	BINARY("broadcast_power", "Pow"),
	BINARY("_power", "Pow"),
	BINARY("_maximum", "Maximum"),
	BINARY("broadcast_maximum", "Maximum"),
	BINARY("_minimum", "Minimum"),
	BINARY("broadcast_minimum", "Minimum"),
	COMPARE("broadcast_equal", 0),
	COMPARE("broadcast_not_equal", -1),
	COMPARE("broadcast_greater", 2),
	COMPARE("broadcast_greater_equal", 3),
	COMPARE("broadcast_lesser", 4),
	COMPARE("broadcast_lesser_equal", 5),
	SCALAR("_plus_scalar", "Add", 0),
	SCALAR("_PlusScalar", "Add", 0),
	SCALAR("_minus_scalar", "Sub", 0),
	SCALAR("_MinusScalar", "Sub", 0),
	SCALAR("_rminus_scalar", "Sub", 1),
	SCALAR("_RMinusScalar", "Sub", 1),
	SCALAR("_mul_scalar", "Mul", 0),
	SCALAR("_MulScalar", "Mul", 0),
	SCALAR("_div_scalar", "Div", 0),
	SCALAR("_DivScalar", "Div", 0),
	SCALAR("_rdiv_scalar", "Div", 1),
	SCALAR("_RDivScalar", "Div", 1),
	SCALAR("_power_scalar", "Pow", 0),
	SCALAR("_PowerScalar", "Pow", 0),
	SCALAR("_rpower_scalar", "Pow", 1),
	SCALAR("_maximum_scalar", "Maximum", 0),
	SCALAR("_MaximumScalar", "Maximum", 0),
	SCALAR("_minimum_scalar", "Minimum", 0),
	SCALAR("_MinimumScalar", "Minimum", 0),
	COMPARE_SCALAR("_equal_scalar", 0),
	COMPARE_SCALAR("_not_equal_scalar", -1),
	COMPARE_SCALAR("_greater_scalar", 2),
	COMPARE_SCALAR("_greater_equal_scalar", 3),
	COMPARE_SCALAR("_lesser_scalar", 4),
	COMPARE_SCALAR("_lesser_equal_scalar", 5),
	{0},
};
