/* Elementwise operators on one tensor: a row each, with functions of one number. */
#include <math.h>
#include <string.h>

#include "graph/op/element/params.h"
#include "runtime/engine/reference/element/exponential.h"
#include "runtime/engine/reference/ranges.h"
#include "runtime/kernel/kernels.h"
#include "runtime/kernel/row.h"

/* Replaces a block of elements. @a and @b are the operator's parameters, in the order
 * of its table row. */
typedef void floats_fn(double *x, size_t n, double a, double b);
typedef int64_t int_fn(int64_t x);

static double f_abs(double x, double a, double b)
{
	(void)a;
	(void)b;
	return fabs(x);
}

static int64_t i_abs(int64_t x)
{
	return x < 0 ? (int64_t) - (uint64_t)x : x;
}

static double f_neg(double x, double a, double b)
{
	(void)a;
	(void)b;
	return -x;
}

static int64_t i_neg(int64_t x)
{
	return (int64_t) - (uint64_t)x;
}

static double f_sign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x > 0 ? 1 : x < 0 ? -1 : x;
}

static int64_t i_sign(int64_t x)
{
	return x > 0 ? 1 : x < 0 ? -1 : 0;
}

static int64_t i_not(int64_t x)
{
	return x == 0;
}

static int64_t i_relu(int64_t x)
{
	return x > 0 ? x : 0;
}

static double f_relu(double x, double slope, double b)
{
	(void)b;
	if (x < 0) /* also for infinity */
		return slope != 0 ? x * slope : 0;
	return x;
}

static double f_sigmoid(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 1 / (1 + exp(-x));
}

static double f_softplus(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double f_softsign(double x, double a, double b)
{
	(void)a;
	(void)b;
	return x / (1 + fabs(x));
}

static double f_reciprocal(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 1 / x;
}

static double f_celu(double x, double alpha, double b)
{
	(void)b;
	return x > 0 ? x : alpha * expm1(x / alpha);
}

static double f_elu(double x, double alpha, double b)
{
	(void)b;
	return x > 0 ? x : alpha * expm1(x);
}

static double f_selu(double x, double alpha, double lambda)
{
	return lambda * (x > 0 ? x : alpha * expm1(x));
}

static double f_hard_sigmoid(double x, double alpha, double beta)
{
	const double y = alpha * x + beta;

	return y < 0 ? 0 : y > 1 ? 1 : y;
}

static double f_hard_swish(double x, double alpha, double beta)
{
	return x * f_hard_sigmoid(x, alpha, beta);
}

static double f_thresholded_relu(double x, double alpha, double b)
{
	(void)b;
	return x > alpha ? x : 0;
}

static double f_shrink(double x, double lambd, double bias)
{
	return x < -lambd ? x + bias : x > lambd ? x - bias : 0;
}

static double f_mish(double x, double a, double b)
{
	return x * tanh(f_softplus(x, a, b));
}

static double f_gelu(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

static double f_gelu_tanh(double x, double a, double b)
{
	(void)a;
	(void)b;
	return 0.5 * x *
	       (1 + tanh(M_SQRT1_2 * M_2_SQRTPI * (x + 0.044715 * x * x * x)));
}

static int64_t i_bitwise_not(int64_t x)
{
	return ~x;
}

/* Ties round to even, the machine's rounding mode. */
#define OF_LIBM(name)                                                                  \
	static double f_##name(double x, double a, double b)                           \
	{                                                                              \
		(void)a;                                                               \
		(void)b;                                                               \
		return (name)(x);                                                      \
	}
OF_LIBM(acos)
OF_LIBM(acosh)
OF_LIBM(asin)
OF_LIBM(asinh)
OF_LIBM(atan)
OF_LIBM(atanh)
OF_LIBM(ceil)
OF_LIBM(cos)
OF_LIBM(cosh)
OF_LIBM(erf)
OF_LIBM(exp)
OF_LIBM(floor)
OF_LIBM(log)
OF_LIBM(rint)
OF_LIBM(sin)
OF_LIBM(sinh)
OF_LIBM(sqrt)
OF_LIBM(tan)
OF_LIBM(tanh)

/* The loop contains the function, so that the compiler can vectorise it. */
#define FLOATS(name)                                                                   \
	static void r_##name(double *x, size_t n, double a, double b)                  \
	{                                                                              \
		for (size_t i = 0; i < n; i++)                                         \
			x[i] = f_##name(x[i], a, b);                                   \
	}
FLOATS(abs)
FLOATS(neg)
FLOATS(sign)
FLOATS(relu)
FLOATS(sigmoid)
FLOATS(softplus)
FLOATS(softsign)
FLOATS(reciprocal)
FLOATS(celu)
FLOATS(elu)
FLOATS(selu)
FLOATS(hard_sigmoid)
FLOATS(hard_swish)
FLOATS(thresholded_relu)
FLOATS(shrink)
FLOATS(mish)
FLOATS(gelu)
FLOATS(gelu_tanh)
FLOATS(acos)
FLOATS(acosh)
FLOATS(asin)
FLOATS(asinh)
FLOATS(atan)
FLOATS(atanh)
FLOATS(ceil)
FLOATS(cos)
FLOATS(cosh)
FLOATS(erf)
FLOATS(exp)
FLOATS(floor)
FLOATS(log)
FLOATS(rint)
FLOATS(sin)
FLOATS(sinh)
FLOATS(sqrt)
FLOATS(tan)
FLOATS(tanh)

/* Near values for float32: see exponential.h. */
static void n_exp(double *x, size_t n)
{
	msd_exp_near(x, n);
}

static void n_sigmoid(double *x, size_t n)
{
	for (size_t i = 0; i < n; i++)
		x[i] = -x[i];
	msd_exp_near(x, n);
	for (size_t i = 0; i < n; i++)
		x[i] = 1 / (1 + x[i]);
}

/* Readers of parameters. */
typedef float param_fn(const modser_sg_node *node);
#define PARAM(id, field)                                                               \
	static float id##_##field(const modser_sg_node *node)                          \
	{                                                                              \
		return msd_params_##id(node).field;                                    \
	}
PARAM(celu, alpha)
PARAM(elu, alpha)
PARAM(hard_swish, alpha)
PARAM(hard_swish, beta)
PARAM(hardsigmoid, alpha)
PARAM(hardsigmoid, beta)
PARAM(relu, negative_slope)
PARAM(selu, alpha)
PARAM(selu, lambda)
PARAM(shrink, lambd)
PARAM(shrink, bias)
PARAM(thresholded_relu, alpha)

struct row {
	const char *op;
	floats_fn *f; /* NULL: floats are not supported */
	int_fn *i;    /* NULL: integers are not supported */
	param_fn *a;  /* parameters; NULL: it has none */
	param_fn *b;
	void (*near)(double *x, size_t n); /* NULL: only f */
};
static const struct row rows[] = {
	{"Absval", r_abs, i_abs, NULL, NULL, NULL},
	{"Acos", r_acos, NULL, NULL, NULL, NULL},
	{"Acosh", r_acosh, NULL, NULL, NULL, NULL},
	{"Asin", r_asin, NULL, NULL, NULL, NULL},
	{"Asinh", r_asinh, NULL, NULL, NULL, NULL},
	{"Atan", r_atan, NULL, NULL, NULL, NULL},
	{"Atanh", r_atanh, NULL, NULL, NULL, NULL},
	{"BitwiseNot", NULL, i_bitwise_not, NULL, NULL, NULL},
	{"Ceil", r_ceil, NULL, NULL, NULL, NULL},
	{"Celu", r_celu, NULL, celu_alpha, NULL, NULL},
	{"Cos", r_cos, NULL, NULL, NULL, NULL},
	{"Cosh", r_cosh, NULL, NULL, NULL, NULL},
	{"Elu", r_elu, NULL, elu_alpha, NULL, NULL},
	{"Erf", r_erf, NULL, NULL, NULL, NULL},
	{"Exp", r_exp, NULL, NULL, NULL, n_exp},
	{"Floor", r_floor, NULL, NULL, NULL, NULL},
	{"Gelu", r_gelu, NULL, NULL, NULL, NULL},
	{"GeluTanh", r_gelu_tanh, NULL, NULL, NULL, NULL},
	{"HardSwish", r_hard_swish, NULL, hard_swish_alpha, hard_swish_beta, NULL},
	{"Hardsigmoid", r_hard_sigmoid, NULL, hardsigmoid_alpha, hardsigmoid_beta,
	 NULL},
	{"Log", r_log, NULL, NULL, NULL, NULL},
	{"Mish", r_mish, NULL, NULL, NULL, NULL},
	{"Neg", r_neg, i_neg, NULL, NULL, NULL},
	{"Not", NULL, i_not, NULL, NULL, NULL},
	{"ReLu", r_relu, i_relu, relu_negative_slope, NULL, NULL},
	{"Reciprocal", r_reciprocal, NULL, NULL, NULL, NULL},
	{"Round", r_rint, NULL, NULL, NULL, NULL},
	{"Selu", r_selu, NULL, selu_alpha, selu_lambda, NULL},
	{"Shrink", r_shrink, NULL, shrink_lambd, shrink_bias, NULL},
	{"Sigmoid", r_sigmoid, NULL, NULL, NULL, n_sigmoid},
	{"Sign", r_sign, i_sign, NULL, NULL, NULL},
	{"Sin", r_sin, NULL, NULL, NULL, NULL},
	{"Sinh", r_sinh, NULL, NULL, NULL, NULL},
	{"Softplus", r_softplus, NULL, NULL, NULL, NULL},
	{"Softsign", r_softsign, NULL, NULL, NULL, NULL},
	{"Sqrt", r_sqrt, NULL, NULL, NULL, NULL},
	{"Tan", r_tan, NULL, NULL, NULL, NULL},
	{"Tanh", r_tanh, NULL, NULL, NULL, NULL},
	{"ThresholdedRelu", r_thresholded_relu, NULL, thresholded_relu_alpha, NULL,
	 NULL},
};

static const struct row *row_of(const char *op)
{
	size_t i = 0;

	while (strcmp(rows[i].op, op) != 0)
		i++;
	return &rows[i];
}

/* The row of Gelu also depends on a parameter. */
static const struct row *row_for(const struct msd_kernel_call *c)
{
	const char *op = modser_sg_op_name(modser_sg_node_op(c->node));
	const bool is_tanh = strcmp(op, "Gelu") == 0 &&
			     strcmp(msd_params_gelu(c->node).approximate, "tanh") == 0;

	return row_of(is_tanh ? "GeluTanh" : op);
}

static double param(const struct msd_kernel_call *c, param_fn *read)
{
	return read != NULL ? (double)read(c->node) : 0;
}

struct unary {
	const struct msd_kernel_call *c;
	const struct row *row;
	struct msd_dtype dtype;
	double a;
	double b;
};

static void load_floats(const struct unary *u, size_t first, size_t n, double *ret)
{
	msd_row_load(u->dtype, u->c->in[0], (int64_t)first, 1, n, ret);
}

/* False: a result is not sure. */
static bool run_near(const struct unary *u, size_t first, size_t n, double *ret)
{
	load_floats(u, first, n, ret);
	u->row->near(ret, n);
	return msd_exp_is_sure(ret, n, MSD_EXP_ERROR, 0);
}

static void run_floats(const void *ctx, size_t first, size_t count)
{
	const struct unary *u = ctx;
	const bool is_near = u->row->near != NULL && msd_row_is_single(u->dtype);
	double block[MSD_ROW_BLOCK];

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_ROW_BLOCK ? count : MSD_ROW_BLOCK;
		if (!is_near || !run_near(u, first, n, block)) {
			load_floats(u, first, n, block);
			u->row->f(block, n, u->a, u->b);
		}
		msd_row_store(u->dtype, u->c->out[0], first, n, block);
	}
}

static void run_ints(const void *ctx, size_t first, size_t count)
{
	const struct unary *u = ctx;
	int64_t block[MSD_ROW_BLOCK];

	for (size_t n; count > 0; first += n, count -= n) {
		n = count < MSD_ROW_BLOCK ? count : MSD_ROW_BLOCK;
		msd_row_load_whole(u->dtype, u->c->in[0], (int64_t)first, 1, n, block);
		for (size_t i = 0; i < n; i++)
			block[i] = u->row->i(block[i]);
		msd_row_store_whole(u->dtype, u->c->out[0], first, n, block);
	}
}

enum { COST_NS = 5 }; /* of an element; between 1 and 20 */

static msd_err run(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const char *op = modser_sg_op_name(modser_sg_node_op(c->node));
	const struct row *row = row_for(c);
	const struct unary u = {c, row, msd_kernel_in_dtype(c, 0), param(c, row->a),
				param(c, row->b)};
	const bool is_float = msd_number_kind(u.dtype) == MSD_N_FLOAT;

	if (is_float ? row->f == NULL : row->i == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "%s does not take such elements", op);
	}
	msd_ranges_each(msd_kernel_out_elements(c, 0), COST_NS,
			is_float ? run_floats : run_ints, &u);
	return MSD_OK;
}

#define UNARY(id, op)                                                                  \
	const struct msd_kernel msd_kernel_##id = {op, run, MSD_TAKES_NUMBERS}
UNARY(absval, "Absval");
UNARY(acos, "Acos");
UNARY(acosh, "Acosh");
UNARY(asin, "Asin");
UNARY(asinh, "Asinh");
UNARY(atan, "Atan");
UNARY(atanh, "Atanh");
UNARY(bitwise_not, "BitwiseNot");
UNARY(ceil, "Ceil");
UNARY(celu, "Celu");
UNARY(cos, "Cos");
UNARY(cosh, "Cosh");
UNARY(elu, "Elu");
UNARY(erf, "Erf");
UNARY(exp, "Exp");
UNARY(floor, "Floor");
UNARY(gelu, "Gelu");
UNARY(hard_swish, "HardSwish");
UNARY(hardsigmoid, "Hardsigmoid");
UNARY(log, "Log");
UNARY(mish, "Mish");
UNARY(neg, "Neg");
UNARY(not, "Not");
UNARY(relu, "ReLu");
UNARY(reciprocal, "Reciprocal");
UNARY(round, "Round");
UNARY(selu, "Selu");
UNARY(shrink, "Shrink");
UNARY(sigmoid, "Sigmoid");
UNARY(sign, "Sign");
UNARY(sin, "Sin");
UNARY(sinh, "Sinh");
UNARY(softplus, "Softplus");
UNARY(softsign, "Softsign");
UNARY(sqrt, "Sqrt");
UNARY(tan, "Tan");
UNARY(tanh, "Tanh");
UNARY(thresholded_relu, "ThresholdedRelu");
