/* float16 and bfloat16 by the native engine: conversions are those of the reference
 * engine bit for bit, and layers agree within one unit of the type. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/engine.h"
#include "runtime/value/element.h"
#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"
#include "tests/support/fail_alloc.h"

enum { ALL = 65536, STEP = 65521, N_SAMPLES = 65551 };

static const struct msd_dtype types[] = {{MSD_DT_FLOAT, 16, 1}, {MSD_DT_BFLOAT, 16, 1}};
static const char *const names[] = {"float16", "bfloat16"};

static float widened(size_t type, uint16_t v)
{
	return (float)msd_number_load(types[type], &v, 0).f;
}

static uint16_t rounded(size_t type, float v)
{
	uint16_t y;

	msd_number_store_float(types[type], &y, 0, (double)v);
	return y;
}

Test(native_shorts, widen_as_the_reference)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	uint16_t *x = malloc(ALL * sizeof(*x));
	float *y = malloc(ALL * sizeof(*y));

	cr_assert(x != NULL && y != NULL);
	for (size_t i = 0; i < ALL; i++)
		x[i] = (uint16_t)i;
	for (size_t k = 0; k < n_levels * 2; k++) {
		levels[k / 2]->widen(k % 2 != 0, x, ALL, y);
		for (size_t i = 0; i < ALL; i++) {
			const float want = widened(k % 2, x[i]);

			cr_assert(memcmp(&want, &y[i], sizeof(want)) == 0 ||
					  (isnan(want) && isnan(y[i])),
				  "%s %s: %zx is %a, not %a", levels[k / 2]->name,
				  names[k % 2], i, (double)y[i], (double)want);
		}
	}
	free(x);
	free(y);
}

/* Each short number, the middle to the next one, its neighbours, and samples. */
static size_t fill(size_t type, float *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < 0xffff; i++) {
		const float a = widened(type, (uint16_t)i);
		const float middle = (a + widened(type, (uint16_t)(i + 1))) / 2;

		ret[n++] = a;
		ret[n++] = middle;
		ret[n++] = nextafterf(middle, INFINITY);
		ret[n++] = nextafterf(middle, -INFINITY);
	}
	for (uint32_t i = 0; i < N_SAMPLES; i++) {
		const uint32_t bits = i * STEP;

		memcpy(&ret[n++], &bits, sizeof(bits));
	}
	return n;
}

Test(native_shorts, round_as_the_reference)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = malloc((4 * (size_t)ALL + N_SAMPLES) * sizeof(*x));
	uint16_t *y = malloc((4 * (size_t)ALL + N_SAMPLES) * sizeof(*y));

	cr_assert(x != NULL && y != NULL);
	for (size_t k = 0; k < n_levels * 2; k++) {
		const size_t n = fill(k % 2, x);

		levels[k / 2]->narrow(k % 2 != 0, x, n, y);
		for (size_t i = 0; i < n; i++) {
			const uint16_t want = rounded(k % 2, x[i]);

			cr_assert(y[i] == want ||
					  (isnan(x[i]) && isnan(widened(k % 2, y[i]))),
				  "%s %s: %a is %x, not %x", levels[k / 2]->name,
				  names[k % 2], (double)x[i], y[i], want);
		}
	}
	free(x);
	free(y);
}

Test(native_shorts, convert_any_number_of_elements)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(50, 61);

	for (size_t k = 0; k < n_levels * 2 * 50; k++) {
		const size_t n = k / 2 / n_levels;
		const bool is_bfloat = k % 2 != 0;
		uint16_t y[51];
		float again[51];

		y[n] = 7;
		again[n] = 7;
		levels[k / 2 % n_levels]->narrow(is_bfloat, x + 1, n, y);
		cr_expect_eq(y[n], 7);
		levels[k / 2 % n_levels]->widen(is_bfloat, y, n, again);
		cr_expect(again[n] == 7);
		for (size_t i = 0; i < n; i++)
			cr_expect(again[i] == widened(k % 2, rounded(k % 2, x[i + 1])));
	}
	free(x);
}

/* A constant of short floats around 0. */
static modser_sg_tensor *shorts(modser_graph *g, size_t type, size_t ndim,
				const int64_t *dims, unsigned seed)
{
	size_t n = 1;

	for (size_t i = 0; i < ndim; i++)
		n *= (size_t)dims[i];
	float *x = levels_numbers(n, seed);
	uint16_t *y = malloc((n + 1) * sizeof(*y));
	cr_assert_not_null(y);
	for (size_t i = 0; i < n; i++)
		y[i] = rounded(type, x[i]);
	free(x);
	modser_sg_tensor *t = net_constant(g, names[type], ndim, dims, y);
	(void)modser_sg_tensor_set_buffer(t, y, free);
	return t;
}

static void add(struct one *o, size_t type, size_t ndim, const int64_t *dims,
		unsigned seed)
{
	(void)modser_sg_node_add_input(o->node, shorts(o->g, type, ndim, dims, seed));
}

/* The first output, widened. */
static float *run_shorts(struct one *o, size_t type, const char *engine,
			 unsigned threads, size_t *ret_n)
{
	cr_assert_eq(setenv("MODSERD_ENGINE", engine, 1), 0);
	msd_pool_stop();
	msd_pool_configure(threads);
	cr_assert_eq(msd_plan_create(o->g, &o->plan, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	cr_assert_eq(msd_plan_run(o->plan, NULL, &o->d), MSD_OK, "%s",
		     msd_diag_text(&o->d));
	const modser_sg_tensor *t = msd_plan_output_tensor(o->plan, 0);
	cr_assert_str_eq(modser_sg_tensor_dtype(t), names[type]);
	const uint16_t *bits = msd_plan_output(o->plan, 0);
	*ret_n = elements(t);
	float *y = malloc((*ret_n + 1) * sizeof(*y));
	cr_assert_not_null(y);
	for (size_t i = 0; i < *ret_n; i++)
		y[i] = widened(type, bits[i]);
	msd_plan_destroy(o->plan);
	o->plan = NULL;
	msd_pool_stop();
	return y;
}

static void expect_native(const char *what, const struct one *o)
{
	struct msd_claim c = {0};
	struct msd_diag d = {0};

	cr_assert_eq(setenv("MODSERD_ENGINE", "native", 1), 0);
	cr_assert_eq(msd_claim_make(&c, o->node, &d), MSD_OK);
	cr_expect(c.by.engine == &msd_engine_native, "%s: by the reference engine",
		  what);
	msd_claim_release(&c);
	msd_diag_finish(&d);
}

/* One unit of the type at @v. */
static double unit(size_t type, double v)
{
	const double least = type == 0 ? 0x1p-14 : 0x1p-126;

	return ldexp(1,
		     ilogb(fabs(v) > least ? fabs(v) : least) - (type == 0 ? 10 : 7));
}

static void expect_within_units(const char *what, size_t type, const float *is,
				const float *want, size_t n)
{
	double most = 0;

	for (size_t i = 0; i < n; i++) {
		if (isfinite(want[i]) && fabs((double)want[i]) > most)
			most = fabs((double)want[i]);
	}
	for (size_t i = 0; i < n; i++) {
		const double at = fmax(fabs((double)want[i]), most * 1e-3);

		cr_assert(is[i] == want[i] || (isnan(is[i]) && isnan(want[i])) ||
				  (isfinite(want[i]) &&
				   fabs((double)is[i] - (double)want[i]) <=
					   unit(type, at)),
			  "%s %s: element %zu is %.9g, not %.9g", names[type], what, i,
			  (double)is[i], (double)want[i]);
	}
}

static void expect_agreement(const char *what, size_t type, struct one *o)
{
	size_t n;
	float *want = run_shorts(o, type, "reference", 1, &n);
	float *is = run_shorts(o, type, "native", 1, &n);

	expect_native(what, o);
	expect_within_units(what, type, is, want, n);
	for (unsigned threads = 2; threads <= 3; threads++) {
		float *y = run_shorts(o, type, "native", threads, &n);

		cr_expect(memcmp(is, y, n * sizeof(*y)) == 0,
			  "%s: other bits on %u threads", what, threads);
		free(y);
	}
	free(want);
	free(is);
	one_end(o);
}

static struct one convolution(size_t type, const int64_t x[4], const int64_t w[4],
			      int64_t group)
{
	struct one o = one_begin("Convolution");

	set_int(o.node, "group", group);
	set_int(o.node, "kernel_h", w[2]);
	set_int(o.node, "kernel_w", w[3]);
	set_int(o.node, "pad_h0", 1);
	set_int(o.node, "pad_w1", 1);
	add(&o, type, 4, x, 71);
	add(&o, type, 4, w, 72);
	add(&o, type, 1, w, 73);
	return o;
}

Test(native_shorts, convolutions, .timeout = 120)
{
	static const struct {
		const char *what;
		int64_t x[4], w[4], group;
	} rows[] = {
		{"tiles", {2, 19, 14, 15}, {20, 19, 3, 3}, 1},
		{"few channels", {1, 3, 23, 24}, {16, 3, 7, 7}, 1},
		{"pointwise", {1, 17, 40, 41}, {19, 17, 1, 1}, 1},
		{"grouped", {2, 12, 8, 8}, {18, 4, 3, 3}, 3},
		{"depthwise", {2, 9, 14, 15}, {9, 1, 3, 3}, 9},
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct one o = convolution(i % 2, rows[i / 2].x, rows[i / 2].w,
					   rows[i / 2].group);

		expect_agreement(rows[i / 2].what, i % 2, &o);
	}
}

/* Elements that are not finite make the run read the weights again. */
Test(native_shorts, tiles_with_wild_elements)
{
	const int64_t x[] = {1, 16, 9, 9};
	const int64_t w[] = {16, 16, 3, 3};

	for (size_t type = 0; type < 2; type++) {
		struct one o = convolution(type, x, w, 1);
		uint16_t *bits = (uint16_t *)(uintptr_t)modser_sg_tensor_data(
			modser_sg_node_input(o.node, 0), &(uint64_t){0});

		bits[40] = rounded(type, INFINITY);
		bits[99] = rounded(type, NAN);
		bits[200] = rounded(type, 6e4f);
		expect_agreement("wild elements", type, &o);
	}
}

Test(native_shorts, products)
{
	static const struct {
		const char *op;
		size_t na, nb;
		int64_t a[3], b[3], c[2];
	} rows[] = {
		{"MatMul", 2, 2, {7, 17}, {17, 49}, {0}},
		{"MatMul", 3, 3, {3, 5, 8}, {3, 8, 16}, {0}},
		{"MatMul", 2, 2, {150, 400}, {400, 210}, {0}},
		{"Gemm", 2, 2, {19, 17}, {17, 49}, {1, 49}},
		{"Gemm", 2, 2, {19, 17}, {17, 49}, {19, 1}},
	};

	for (size_t i = 0; i < 2 * sizeof(rows) / sizeof(rows[0]); i++) {
		struct one o = one_begin(rows[i / 2].op);

		add(&o, i % 2, rows[i / 2].na, rows[i / 2].a, 74);
		add(&o, i % 2, rows[i / 2].nb, rows[i / 2].b, 75);
		if (rows[i / 2].c[0] != 0)
			add(&o, i % 2, 2, rows[i / 2].c, 76);
		expect_agreement(rows[i / 2].op, i % 2, &o);
	}
}

static uint16_t *elements_of(const struct one *o, size_t i)
{
	return (uint16_t *)(uintptr_t)modser_sg_tensor_data(
		modser_sg_node_input(o->node, i), &(uint64_t){0});
}

/* Also numbers that are not finite, and results beyond the type. */
Test(native_shorts, elements)
{
	static const char *const ops[] = {"Absval", "Clip", "Elu",       "Erf",
					  "Exp",    "Gelu", "HardSwish", "Log",
					  "Neg",    "ReLu", "Sigmoid",   "Softplus",
					  "Sqrt",   "Tanh", "Softmax",   "LogSoftmax"};
	const int64_t dims[] = {7, 1300};

	for (size_t i = 0; i < 2 * sizeof(ops) / sizeof(ops[0]); i++) {
		const char *op = ops[i / 2];
		const bool is_row = strstr(op, "Softmax") != NULL;
		struct one o = one_begin(op);

		add(&o, i % 2, 2, dims, 77);
		for (size_t k = 0; !is_row && k < 5; k++) {
			elements_of(&o, 0)[k + 30] =
				rounded(i % 2, (const float[]){NAN, INFINITY, -INFINITY,
							       3e4f, -12}[k]);
		}
		expect_agreement(op, i % 2, &o);
	}
}

Test(native_shorts, pairs)
{
	static const char *const ops[] = {"Add", "Sub",     "Mul",
					  "Div", "Maximum", "Minimum"};
	const int64_t a[] = {3, 5, 70};
	const int64_t b[] = {5, 1};

	for (size_t i = 0; i < 2 * sizeof(ops) / sizeof(ops[0]); i++) {
		struct one o = one_begin(ops[i / 2]);

		add(&o, i % 2, 3, a, 78);
		add(&o, i % 2, 2, b, 79);
		elements_of(&o, 0)[40] = rounded(i % 2, NAN);
		elements_of(&o, 0)[41] = rounded(i % 2, 6.5e4f);
		elements_of(&o, 1)[2] = rounded(i % 2, INFINITY);
		expect_agreement(ops[i / 2], i % 2, &o);
	}
}

Test(native_shorts, pools)
{
	const int64_t x[] = {2, 5, 14, 13};

	for (size_t i = 0; i < 4; i++) {
		struct one o = one_begin("Pooling");

		set_int(o.node, "alg", (int64_t)i / 2);
		set_int(o.node, "kernel_h", 3);
		set_int(o.node, "kernel_w", 2);
		set_int(o.node, "stride_h", 2);
		set_int(o.node, "stride_w", 2);
		set_int(o.node, "pad_h0", 1);
		add(&o, i % 2, 4, x, 80);
		expect_agreement("Pooling", i % 2, &o);
	}
}

Test(native_shorts, norms)
{
	const int64_t x[] = {6, 5, 70};

	for (size_t i = 0; i < 4; i++) {
		const bool is_rows = i / 2 != 0;
		struct one o = one_begin(is_rows ? "LayerNorm" : "InstanceNorm");

		if (is_rows)
			set_int(o.node, "axis", -1);
		add(&o, i % 2, 3, x, 81);
		add(&o, i % 2, 1, is_rows ? x + 2 : x + 1, 82);
		add(&o, i % 2, 1, is_rows ? x + 2 : x + 1, 83);
		expect_agreement(is_rows ? "LayerNorm" : "InstanceNorm", i % 2, &o);
	}
}

/* Load and run the model while one allocation fails. False: none was left to fail. */
static bool expect_right_or_refused(struct one *o, size_t type, long k,
				    const float *want, size_t n)
{
	msd_pool_configure(1);
	msd_fail_alloc(k);
	msd_err err = msd_plan_create(o->g, &o->plan, NULL);
	err = err == MSD_OK ? msd_plan_run(o->plan, NULL, NULL) : err;
	const bool has_failed = msd_fail_alloc_stop();

	cr_assert(err == MSD_OK || (has_failed && err == MSD_NOMEM));
	if (err == MSD_OK) {
		const uint16_t *bits = msd_plan_output(o->plan, 0);
		float *y = malloc((n + 1) * sizeof(*y));

		cr_assert_not_null(y);
		for (size_t i = 0; i < n; i++)
			y[i] = widened(type, bits[i]);
		expect_within_units("memory", type, y, want, n);
		free(y);
	}
	msd_plan_destroy(o->plan);
	o->plan = NULL;
	msd_pool_stop();
	return has_failed;
}

/* A failed allocation is an error, or the reference engine computes the node. */
Test(native_shorts, failed_allocations_change_nothing, .timeout = 120)
{
	const int64_t x[] = {1, 16, 9, 9};
	const int64_t w[] = {16, 16, 3, 3};

	for (size_t type = 0; type < 2; type++) {
		struct one o = convolution(type, x, w, 1);
		size_t n;

		elements_of(&o, 0)[40] = rounded(type, INFINITY);
		float *want = run_shorts(&o, type, "native", 1, &n);
		for (long k = 0; expect_right_or_refused(&o, type, k, want, n); k++)
			continue;
		free(want);
		one_end(&o);
	}
}
