/* Kernels with elements that ONNX's own test models do not have: whole numbers where
 * those have floats, and other floats than float32. */
#include <math.h>

#include "tests/graph/one.h"

static const void *run(struct one *o)
{
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	return msd_plan_output(o->plan, 0);
}

static void set_text(struct one *o, const char *param, const char *text)
{
	const modser_sg_attr value = {MODSER_ATTR_STR, 0, {.s = text}};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &value),
		     0);
}

static void set_float(struct one *o, const char *param, float f)
{
	const modser_sg_attr value = {.kind = MODSER_ATTR_FLOAT, .as.f = f};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(o->node), param, &value),
		     0);
}

static const int64_t square[] = {2, 2};

Test(types, products_of_whole_numbers_are_exact_and_wrap_around)
{
	const int64_t a[] = {(INT64_C(1) << 53) + 1, 0, INT64_MAX, 1};
	const int64_t b[] = {1, 3, 1, 0};
	struct one o = one_begin("MatMul");

	one_add_shaped(&o, "int64", 2, square, a);
	one_add_shaped(&o, "int64", 2, square, b);
	const int64_t *y = run(&o);
	cr_expect_eq(y[0], (INT64_C(1) << 53) + 1);
	cr_expect_eq(y[1], 3 * ((INT64_C(1) << 53) + 1));
	cr_expect_eq(y[2], INT64_MIN);
	cr_expect_eq(y[3], INT64_MAX - 2);
	one_end(&o);
}

Test(types, a_gemm_of_whole_numbers_loses_what_is_behind_the_point_once)
{
	const int32_t a[] = {1, 0, 0, 3};
	const int32_t b[] = {1, 2, 3, 4};
	const int32_t c[] = {1, -2};
	const int32_t want[] = {1, 0, 5, 5}; /* 0.5 + 0.5, 1 - 1, 4.5 + 0.5, 6 - 1 */
	struct one o = one_begin("Gemm");

	set_float(&o, "alpha", 0.5f);
	set_float(&o, "beta", 0.5f);
	one_add_shaped(&o, "int32", 2, square, a);
	one_add_shaped(&o, "int32", 2, square, b);
	one_add_constant(&o, "int32", 2, c);
	cr_expect_eq(memcmp(run(&o), want, sizeof(want)), 0);
	one_end(&o);
}

Test(types, a_scaled_gemm_of_uint64_is_of_what_it_sums)
{
	const uint64_t a[] = {UINT64_C(3) << 62, 0, 0, 8};
	const uint64_t one[] = {1, 0, 0, 1};
	struct one o = one_begin("Gemm");

	set_float(&o, "alpha", 0.5f);
	one_add_shaped(&o, "uint64", 2, square, a);
	one_add_shaped(&o, "uint64", 2, square, one);
	const uint64_t *y = run(&o);
	cr_expect_eq(y[0], UINT64_C(3) << 61);
	cr_expect_eq(y[3], 4);
	one_end(&o);
}

Test(types, a_cast_to_uint64_goes_to_its_end)
{
	const double x[] = {1e19, 0x1p63, 1e30, 7.9, NAN};
	struct one o = one_begin("Cast");

	set_text(&o, "to", "uint64");
	one_add_constant(&o, "float64", 5, x);
	const uint64_t *y = run(&o);
	cr_expect_eq(y[0], UINT64_C(10000000000000000000));
	cr_expect_eq(y[1], UINT64_C(1) << 63);
	cr_expect_eq(y[2], UINT64_MAX);
	cr_expect_eq(y[3], 7);
	cr_expect_eq(y[4], 0);
	one_end(&o);
}

/* A column and one number are stretched, too. */
Test(types, what_a_gemm_adds_is_stretched)
{
	const float one[] = {1, 0, 0, 1};
	const float column[] = {10, 20};
	const int64_t dims[] = {2, 1};
	const float want[] = {21, 20, 40, 41};
	struct one o = one_begin("Gemm");

	set_float(&o, "beta", 2);
	one_add_shaped(&o, "float32", 2, square, one);
	one_add_shaped(&o, "float32", 2, square, one);
	one_add_shaped(&o, "float32", 2, dims, column);
	cr_expect_eq(memcmp(run(&o), want, sizeof(want)), 0);
	one_end(&o);
}

Test(types, bool_has_no_products)
{
	const bool a[] = {true, false, true, true};
	struct one o = one_begin("MatMul");

	one_add_shaped(&o, "bool", 2, square, a);
	one_add_shaped(&o, "bool", 2, square, a);
	cr_assert_neq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK);
	expect_said(&o, "bool has no products");
	one_end(&o);
}

/* log(e + e + e^2) is 2.55. The largest of int64 is 2^63 as a double, its end again. */
Test(types, a_sum_of_powers_of_whole_numbers_is_whole)
{
	const int64_t few[] = {1, 1, 2};
	const int64_t most[] = {INT64_MAX, INT64_MAX};
	struct one a = one_begin("Reduction");
	struct one b = one_begin("Reduction");

	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(a.node), "type", 10), 0);
	one_add_constant(&a, "int64", 3, few);
	cr_expect_eq(*(const int64_t *)run(&a), 2);
	one_end(&a);
	cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(b.node), "type", 10), 0);
	one_add_constant(&b, "int64", 2, most);
	cr_expect_eq(*(const int64_t *)run(&b), INT64_MAX);
	one_end(&b);
}

/* As ONNX Runtime has it; a cubic would leave what eight bits hold. */
Test(types, means_of_whole_numbers_are_cut_off)
{
	const uint8_t x[] = {0, 255, 255, 0};
	const float twice = 2;
	const uint8_t linear[] = {0, 63, 191, 255, 255, 191, 63, 0};
	struct one a = one_begin("Resize");
	struct one b = one_begin("Resize");

	set_text(&a, "mode", "linear");
	one_add_constant(&a, "uint8", 4, x);
	(void)modser_sg_node_add_input(a.node, NULL);
	one_add_constant(&a, "float32", 1, &twice);
	cr_expect_eq(memcmp(run(&a), linear, sizeof(linear)), 0);
	one_end(&a);
	set_text(&b, "mode", "cubic");
	one_add_constant(&b, "uint8", 4, x);
	(void)modser_sg_node_add_input(b.node, NULL);
	one_add_constant(&b, "float32", 1, &twice);
	const uint8_t *y = run(&b);
	cr_expect_eq(y[0], 0);
	cr_expect_eq(y[3], 255);
	one_end(&b);
}

/* A GRU of one number: two steps, in each type of floats the same. */
static double gru(const char *dtype, size_t bytes, const void *x, const void *w,
		  const void *r)
{
	const int64_t steps[] = {2, 1, 1};
	const int64_t gates[] = {1, 3, 1};
	struct one o = one_begin("GRU");
	double last = 0;

	set_text(&o, "direction", "forward");
	one_add_shaped(&o, dtype, 3, steps, x);
	one_add_shaped(&o, dtype, 3, gates, w);
	one_add_shaped(&o, dtype, 3, gates, r);
	const uint8_t *y = run(&o);
	if (bytes == sizeof(double)) {
		memcpy(&last, y + sizeof(double), sizeof(double));
	} else {
		float f;

		memcpy(&f, y + sizeof(float), sizeof(f));
		last = (double)f;
	}
	one_end(&o);
	return last;
}

static double sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

Test(types, recurrent_layers_have_any_floats)
{
	const double x[] = {0.5, -1};
	const double w[] = {1, 2, 3};
	const double r[] = {0.5, 0.25, -1};
	const float x32[] = {0.5f, -1};
	const float w32[] = {1, 2, 3};
	const float r32[] = {0.5f, 0.25f, -1};
	double h = 0;

	for (size_t t = 0; t < 2; t++) {
		const double z = sigmoid(x[t] * w[0] + h * r[0]);
		const double s = sigmoid(x[t] * w[1] + h * r[1]);
		const double n = tanh(x[t] * w[2] + s * h * r[2]);

		h = (1 - z) * n + z * h;
	}
	cr_expect_float_eq(gru("float64", sizeof(double), x, w, r), h, 1e-15);
	cr_expect_float_eq(gru("float32", sizeof(float), x32, w32, r32), h, 1e-7);
}

/* SAME says in * stride; a kernel of one makes no more than it touches. */
Test(types, a_transposed_convolution_below_its_stride_adds_nothing)
{
	const float x[] = {1, 2, 3};
	const float w[] = {2};
	const int64_t line[] = {1, 1, 3};
	const int64_t one[] = {1, 1, 1};
	const int64_t stride[] = {2};
	const float want[] = {2, 0, 4, 0, 6};
	const modser_sg_attr strides = {MODSER_ATTR_INTS, 1, {.ints = stride}};
	struct one o = one_begin("Deconvolution");
	modser_sg_op *op = modser_sg_node_op(o.node);

	cr_assert_eq(modser_sg_op_set_param(op, "strides", &strides), 0);
	cr_assert_eq(modser_sg_op_set_int(op, "auto_pad", 1), 0);
	one_add_shaped(&o, "float32", 3, line, x);
	one_add_shaped(&o, "float32", 3, one, w);
	cr_expect_eq(memcmp(run(&o), want, sizeof(want)), 0);
	cr_expect_eq(modser_sg_tensor_dims(modser_sg_node_output(o.node, 0))[2], 5);
	one_end(&o);
}
