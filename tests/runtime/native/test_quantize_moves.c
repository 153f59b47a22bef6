/* Operators that only move elements move bytes, and pools and functions compute with
 * them. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/quantize_net.h"
#include "tests/support/fail_alloc.h"

enum { N = 4 }; /* dimensions of the numbers here */
static const int64_t all_dims[N] = {2, 8, 6, 10};

/* Numbers of bytes that no pass folds: their bytes are computed. */
static modser_sg_tensor *numbers(modser_graph *g, float by, int at)
{
	modser_sg_tensor *bytes =
		quantized(g, floats(g, N, all_dims, 3), "int8", by, at);

	return dequantized(g, bytes, "int8", by, at);
}

static modser_sg_tensor *ints(modser_graph *g, size_t n, const int64_t *v)
{
	const int64_t count = (int64_t)n;
	int64_t *own = malloc(n * sizeof(*own));

	cr_assert_not_null(own);
	memcpy(own, v, n * sizeof(*own));
	modser_sg_tensor *t = net_constant(g, "int64", 1, &count, own);
	(void)modser_sg_tensor_set_buffer(t, own, free);
	return t;
}

static modser_sg_tensor *moved(modser_graph *g, modser_sg_tensor *x, const char *op,
			       const char *list, size_t n, const int64_t *v)
{
	modser_sg_tensor *y = node(g, op, 1, &x);

	if (list != NULL)
		set_ints(y->producer, list, n, v);
	return y;
}

static modser_sg_tensor *with_ints(modser_graph *g, modser_sg_tensor *x, const char *op,
				   size_t n, const int64_t *v)
{
	modser_sg_tensor *y = node(g, op, 2, (modser_sg_tensor *[]){x, ints(g, n, v)});

	return y;
}

static modser_sg_tensor *padded(modser_graph *g, modser_sg_tensor *x, float with)
{
	static const int64_t pads[] = {0, 0, 1, 2, 0, 0, 0, 1};

	return node(g, "Pad", 3,
		    (modser_sg_tensor *[]){x, ints(g, 8, pads), scale(g, with)});
}

static modser_sg_tensor *sliced(modser_graph *g, modser_sg_tensor *x)
{
	static const int64_t v[][2] = {{1, 2}, {5, 9}, {2, 3}, {1, 2}};
	modser_sg_tensor *in[] = {x, ints(g, 2, v[0]), ints(g, 2, v[1]),
				  ints(g, 2, v[2]), ints(g, 2, v[3])};
	modser_sg_tensor *y = node(g, "Slice", 5, in);

	set_int(y->producer, "isonnx", 1);
	return y;
}

/* Passes run; the bytes are those of the reference engine, without a difference. */
static void expect_same_bytes(modser_graph *g, size_t n_quantize, size_t n_dequantize)
{
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	struct msd_passed passed;
	size_t n, n_own;
	char *want = run(g, "reference", 1, &n);

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_passes_run(g, host, &passed), 0);
	cr_expect_eq(count_op(g, "QuantizeLinear"), n_quantize);
	cr_expect_eq(count_op(g, "DequantizeLinear"), n_dequantize);
	char *y = run(g, "native", 2, &n_own);
	cr_assert_eq(n, n_own);
	cr_expect_eq(memcmp(y, want, n), 0);
	free(want);
	free(y);
	modser_graph_destroy(g);
}

static modser_sg_tensor *move(modser_graph *g, modser_sg_tensor *x, size_t which)
{
	static const int64_t perm[] = {0, 2, 3, 1};
	static const int64_t shape[] = {2, 80, 6};
	static const int64_t larger[] = {3, 2, 8, 6, 10};
	static const int64_t repeats[] = {1, 2, 1, 3};
	static const int64_t places[] = {5, 0, 5};
	modser_sg_tensor *y = x;

	switch (which) {
	case 0:
		return moved(g, x, "Transpose", "perm", N, perm);
	case 1:
		y = with_ints(g, x, "Reshape", 3, shape);
		set_int(y->producer, "is_onnx", 1);
		return y;
	case 2:
		return padded(g, x, 0);
	case 3:
		return sliced(g, x);
	case 4:
		return with_ints(g, x, "Expand", 5, larger);
	case 5:
		return with_ints(g, x, "Tile", N, repeats);
	case 6:
		y = with_ints(g, x, "Gather", 3, places);
		set_int(y->producer, "axis", 2);
		set_int(y->producer, "is_onnx", 1);
		return y;
	case 7:
		y = moved(g, x, "SpaceToDepth", NULL, 0, NULL);
		break;
	case 8:
		y = moved(g, x, "DepthToSpace", NULL, 0, NULL);
		break;
	default:
		return NULL;
	}
	set_int(y->producer, "block_size", 2);
	return y;
}

Test(native_quantize_moves, each_move_moves_bytes)
{
	for (size_t i = 0; i < 9; i++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *y = move(g, numbers(g, 0.04f, -20), i);

		(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.04f, -20));
		expect_same_bytes(g, 1, 0);
	}
}

Test(native_quantize_moves, a_chain_needs_no_numbers_between)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = numbers(g, 0.04f, 9);
	static const size_t chain[] = {2, 3, 0};

	for (size_t i = 0; i < 3; i++)
		y = move(g, y, chain[i]);
	(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.04f, 9));
	expect_same_bytes(g, 1, 0);
}

/* The file's own pairs between the moves go, too. */
Test(native_quantize_moves, pairs_in_a_chain_go)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = move(g, numbers(g, 0.04f, 9), 0);

	y = dequantized(g, quantized(g, y, "int8", 0.04f, 9), "int8", 0.04f, 9);
	(void)modser_graph_add_output(g, quantized(g, move(g, y, 3), "int8", 0.04f, 9));
	expect_same_bytes(g, 1, 0);
}

Test(native_quantize_moves, other_numbers_become_one_table)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = move(g, move(g, numbers(g, 0.04f, 9), 0), 3);

	(void)modser_graph_add_output(g, quantized(g, y, "uint8", 0.05f, 130));
	expect_integers("chain", g, "QuantizedTable", 1);
}

/* Nothing reads bytes at its end: floats are made of the moved bytes. */
Test(native_quantize_moves, floats_are_made_behind_the_move)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = move(g, numbers(g, 0.04f, 9), 3);

	(void)modser_graph_add_output(g, y);
	expect_same_bytes(g, 1, 1);
}

Test(native_quantize_moves, other_readers_keep_their_numbers)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = numbers(g, 0.04f, 9);
	modser_sg_tensor *y = quantized(g, move(g, x, 0), "int8", 0.04f, 9);

	(void)modser_graph_add_output(g, y);
	(void)modser_graph_add_output(g, node(g, "Softmax", 1, &x));
	expect_same_bytes(g, 1, 1);
}

/* 0.05 is no number of steps of 0.04. */
Test(native_quantize_moves, a_padding_without_a_byte_stays_float)
{
	for (int is_whole = 0; is_whole < 2; is_whole++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *y = padded(g, numbers(g, 0.04f, 9),
					     is_whole != 0 ? 2 * 0.04f : 0.05f);

		(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.04f, 9));
		expect_same_bytes(g, is_whole != 0 ? 1 : 2, is_whole != 0 ? 0 : 1);
	}
}

/* 0 lies 100 steps below -100: no byte is that small. */
Test(native_quantize_moves, a_padding_out_of_range_stays_float)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = padded(g, numbers(g, 0.04f, -100), -100 * 0.04f);

	(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.04f, -100));
	expect_same_bytes(g, 2, 1);
}

Test(native_quantize_moves, a_split_moves_bytes)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = numbers(g, 0.04f, 9);
	modser_sg_tensor *y = node(g, "Split", 1, &x);
	modser_sg_tensor *z = modser_sg_tensor_create(g, "z");

	(void)modser_sg_node_add_output(y->producer, z);
	set_int(y->producer, "axis", 1);
	set_int(y->producer, "is_onnx", 1);
	(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.04f, 9));
	(void)modser_graph_add_output(g, quantized(g, z, "int8", 0.04f, 9));
	expect_same_bytes(g, 1, 0);
}

/* Without a QuantizeLinear behind it there are no numbers for both. */
Test(native_quantize_moves, a_concat_of_two_numbers_stays_float)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *const in[] = {numbers(g, 0.04f, 9), numbers(g, 0.05f, 9)};
	modser_sg_tensor *y = node(g, "Concat", 2, in);

	set_int(y->producer, "axis", 1);
	(void)modser_graph_add_output(g, node(g, "Softmax", 1, &y));
	expect_same_bytes(g, 2, 2);
}

Test(native_quantize_moves, a_shape_needs_no_floats)
{
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *x = numbers(g, 0.04f, 9);

	(void)modser_graph_add_output(g, node(g, "Shape", 1, &x));
	expect_same_bytes(g, 1, 0);
}

struct window_case {
	int64_t alg, kernel, stride, pad;
	float by; /* of the output */
	bool is_global, is_integer;
};

static modser_sg_tensor *pooled(modser_graph *g, const struct window_case *c)
{
	static const char *const names[] = {"kernel_h", "kernel_w", "stride_h",
					    "stride_w", "pad_h0",   "pad_w0",
					    "pad_h1",   "pad_w1"};
	modser_sg_tensor *x = numbers(g, 0.04f, 9);
	modser_sg_tensor *y = node(g, "Pooling", 1, &x);

	for (size_t i = 0; i < 8; i++) {
		set_int(y->producer, names[i],
			i < 2   ? c->kernel
			: i < 4 ? c->stride
				: c->pad);
	}
	set_int(y->producer, "alg", c->alg);
	set_int(y->producer, "global", c->is_global);
	if (c->by != 0.04f)
		y = node(g, "ReLu", 1, &y);
	return quantized(g, y, "int8", c->by, 9);
}

/* The byte nearest to the exact result; between two, the even one before 9 is added. */
static int8_t nearest(double v, bool is_positive)
{
	const double whole = rint(is_positive ? fmax(v, 0) : v) + 9;

	return (int8_t)fmin(fmax(whole, INT8_MIN), INT8_MAX);
}

/* The bytes of each window, by the definition. */
static void expect_windows(const struct window_case *c, const int8_t *x,
			   const int8_t *y)
{
	const int64_t rows = all_dims[2];
	const int64_t columns = all_dims[3];
	const int64_t kernel = c->is_global ? 10 : c->kernel;
	const int64_t high = (rows + 2 * c->pad - (c->is_global ? rows : kernel));
	const int64_t wide = (columns + 2 * c->pad - kernel);
	const double step = round((double)(0.04f / c->by));

	for (int64_t i = 0; i < 16 * (high / c->stride + 1); i++) {
		for (int64_t k = 0; k <= wide / c->stride; k++, y++) {
			const int64_t top = i % (high / c->stride + 1) * c->stride;
			const int8_t *plane =
				x + i / (high / c->stride + 1) * rows * columns;
			double sum = 0;
			double most = INT8_MIN;
			int n = 0;

			for (int64_t at = 0; at < kernel * kernel; at++) {
				const int64_t r = top - c->pad + at / kernel;
				const int64_t q = k * c->stride - c->pad + at % kernel;

				if (r < 0 || r >= rows || q < 0 || q >= columns)
					continue;
				sum += plane[r * columns + q] - 9;
				most = fmax(most, plane[r * columns + q] - 9);
				n++;
			}
			cr_assert_eq(*y, nearest(step * (c->alg == 0 ? most : sum / n),
						 c->by != 0.04f));
		}
	}
}

Test(native_quantize_moves, pools_give_the_nearest_byte)
{
	static const struct window_case cases[] = {
		{0, 2, 2, 0, 0.04f, false, true}, {0, 3, 2, 1, 0.02f, false, true},
		{1, 2, 2, 0, 0.04f, false, true}, {1, 3, 1, 1, 0.02f, false, true},
		{1, 5, 2, 2, 0.04f, false, true}, {1, 1, 1, 0, 0.01f, true, true},
	};

	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		modser_graph *g = modser_graph_create("g");
		modser_graph *given = modser_graph_create("given");
		modser_sg_tensor *x = floats(given, N, all_dims, 3);
		size_t n;

		(void)modser_graph_add_output(given,
					      quantized(given, x, "int8", 0.04f, 9));
		char *bytes = run(given, "reference", 1, &n);
		(void)modser_graph_add_output(g, pooled(g, &cases[i]));
		expect_made(g, "QuantizedPooling", 1);
		char *y = run(g, "native", 2, &n);
		expect_windows(&cases[i], (const int8_t *)bytes, (const int8_t *)y);
		free(bytes);
		free(y);
		modser_graph_destroy(g);
		modser_graph_destroy(given);
	}
}

/* A largest element of all, and a window of more than 128 elements. */
Test(native_quantize_moves, pools_of_large_windows_stay_float)
{
	static const struct window_case cases[] = {{0, 1, 1, 0, 0.04f, true, false},
						   {1, 12, 1, 11, 0.04f, false, false}};

	for (size_t i = 0; i < 2; i++) {
		modser_graph *g = modser_graph_create("g");

		(void)modser_graph_add_output(g, pooled(g, &cases[i]));
		expect_same_bytes(g, 2, 1);
	}
}

Test(native_quantize_moves, functions_with_parameters_become_tables)
{
	static const char *const ops[] = {"HardSwish", "Hardsigmoid", "Elu", "Gelu",
					  "Exp",       "Absval",      "Neg"};

	for (size_t i = 0; i < sizeof(ops) / sizeof(ops[0]); i++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *x = numbers(g, 0.02f, 5);

		(void)modser_graph_add_output(
			g, quantized(g, node(g, ops[i], 1, &x), "uint8", 0.03f, 30));
		expect_integers(ops[i], g, "QuantizedTable", 1);
	}
}

/* A failed allocation of the pass is NO_MEMORY. */
Test(native_quantize_moves, the_pass_survives_failed_allocations)
{
	static const struct window_case pool = {1, 3, 1, 1, 0.02f, false, true};
	const struct msd_pass_host host = {NULL, msd_engine_may_make};
	bool failed = true;

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	for (long k = 0; failed; k++) {
		modser_graph *g = modser_graph_create("g");
		modser_sg_tensor *y = move(g, move(g, numbers(g, 0.04f, 9), 2), 0);
		struct msd_passed passed;

		(void)modser_graph_add_output(g, quantized(g, y, "int8", 0.05f, 9));
		(void)modser_graph_add_output(g, pooled(g, &pool));
		msd_fail_alloc(k);
		const int result = msd_passes_run(g, host, &passed);
		failed = msd_fail_alloc_stop();
		if (result != 0)
			cr_assert_str_eq(modser_graph_error_name(g), "NO_MEMORY");
		modser_graph_destroy(g);
	}
}

/* Moves between an operator and its QuantizeLinear do not keep it from bytes. */
Test(native_quantize_moves, moves_before_the_numbers_change_nothing)
{
	static const struct window_case pool = {1, 1, 1, 0, 0.01f, true, true};
	modser_graph *g = modser_graph_create("g");
	modser_sg_tensor *y = pooled(g, &pool);
	modser_sg_node *end = y->producer;
	static const int64_t axes[] = {2, 3};
	static const int64_t perm[] = {1, 0};

	y = moved(g, end->inputs[0], "Squeeze", "axes", 2, axes);
	end->inputs[0] = moved(g, y, "Transpose", "perm", 2, perm);
	(void)modser_graph_add_output(g, end->outputs[0]);
	expect_integers("pool", g, "QuantizedPooling", 1);
}
