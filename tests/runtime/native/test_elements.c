/* Functions of elements: close to libm's in double, with its special values, the same
 * in every place of an array and on each level. */
#include <criterion/criterion.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/levels.h"

static double f_sigmoid(double x)
{
	return 1 / (1 + exp(-x));
}

static double f_silu(double x)
{
	return x * f_sigmoid(x);
}

static double f_gelu(double x)
{
	return 0.5 * x * (1 + erf(x * M_SQRT1_2));
}

static double f_softplus(double x)
{
	return x > 0 ? x + log1p(exp(-x)) : log1p(exp(x));
}

static double f_elu(double x)
{
	return x > 0 ? x : expm1(x);
}

static double f_reciprocal(double x)
{
	return 1 / x;
}

static double f_relu(double x)
{
	return x < 0 ? 0 : x;
}

static double f_cube(double x)
{
	return x * x * x;
}

/* Units of the last place of the result that a function may lack, and an absolute
 * error for functions that cross 0 elsewhere than at 0. */
static const struct row {
	enum msd_native_unary op;
	const char *name;
	double (*f)(double x);
	double ulps;
	double absolute;
	bool has_infinities; /* f of both infinities is what libm says */
} rows[] = {
	{MSD_NATIVE_RELU, "relu", f_relu, 0, 0, true},
	{MSD_NATIVE_ABS, "abs", fabs, 0, 0, true},
	{MSD_NATIVE_SQRT, "sqrt", sqrt, 0.5, 0, true},
	{MSD_NATIVE_RECIPROCAL, "reciprocal", f_reciprocal, 0.5, 0, true},
	{MSD_NATIVE_EXP, "exp", exp, 2, 0, true},
	{MSD_NATIVE_LOG, "log", log, 2, 0, true},
	{MSD_NATIVE_SIGMOID, "sigmoid", f_sigmoid, 2.5, 1e-38, true},
	{MSD_NATIVE_TANH, "tanh", tanh, 2.5, 0, true},
	{MSD_NATIVE_ERF, "erf", erf, 2.5, 0, true},
	{MSD_NATIVE_ELU, "elu", f_elu, 2.5, 0, true},
	{MSD_NATIVE_SOFTPLUS, "softplus", f_softplus, 2.5, 1e-7, true},
	{MSD_NATIVE_SILU, "silu", f_silu, 4, 1e-36, false},
	{MSD_NATIVE_GELU, "gelu", f_gelu, 4, 3e-7, false},
	{MSD_NATIVE_CUBE, "cube", f_cube, 1, 0, true},
};
enum { N_ROWS = sizeof(rows) / sizeof(rows[0]), N = 40001 };

static double ulp_of(double v)
{
	if (!isfinite(v))
		return 0;
	const double size = fabs(v) < (double)FLT_MIN ? (double)FLT_MIN : fabs(v);

	return ldexp(1, ilogb(size) - 23);
}

static void expect_close(const char *level, const struct row *r, float x, float y)
{
	const double want = r->f((double)x);
	/* Results below the normal numbers are rounded twice, or are 0. */
	const double room = (r->ulps + 0.5) * ulp_of(want) + r->absolute;

	if (isnan(want)) {
		cr_expect(isnan(y), "%s %s(%g) is %g", level, r->name, (double)x,
			  (double)y);
	} else if (fabs(want) > (double)FLT_MAX) {
		cr_expect(isinf(y), "%s %s(%g) is %g", level, r->name, (double)x,
			  (double)y);
	} else {
		cr_expect(fabs((double)y - want) <= room,
			  "%s %s(%.9g) is %.9g, not %.9g", level, r->name, (double)x,
			  (double)y, want);
	}
}

Test(native_elements, are_close_to_libm)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = malloc(N * sizeof(*x));
	float *y = malloc(N * sizeof(*y));

	cr_assert(x != NULL && y != NULL);
	for (size_t i = 0; i < N; i++) {
		const double at = ((double)i - N / 2.0) / (N / 2.0);

		x[i] = (float)(i % 2 == 0 ? at * 90 : at * at * at * 2);
	}
	for (size_t k = 0; k < n_levels * N_ROWS; k++) {
		const struct msd_native_kernels *level = levels[k % n_levels];
		const struct row *r = &rows[k / n_levels];

		level->unary(r->op, x, N, 1, 0, y);
		for (size_t i = 0; i < N; i++)
			expect_close(level->name, r, x[i], y[i]);
	}
	free(x);
	free(y);
}

Test(native_elements, keep_special_values)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const float x[] = {NAN, INFINITY, -INFINITY, 0, -0.0f};

	for (size_t k = 0; k < n_levels * N_ROWS; k++) {
		const struct row *r = &rows[k / n_levels];
		float y[5];

		levels[k % n_levels]->unary(r->op, x, 5, 1, 0, y);
		cr_expect(isnan(y[0]), "%s", r->name);
		for (size_t i = 1; r->has_infinities && i < 5; i++) {
			const double want = r->f((double)x[i]);

			cr_expect(isnan(want) ? isnan(y[i])
					      : (double)y[i] == want ||
							fabs((double)y[i] - want) <=
								ulp_of(want),
				  "%s %s(%g) is %g", levels[k % n_levels]->name,
				  r->name, (double)x[i], (double)y[i]);
		}
	}
}

/* An element's result depends neither on its place nor on its neighbours. */
Test(native_elements, have_the_same_bits_in_each_place)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(71, 5);
	float whole[71];
	float part[71];
	float first[71] = {0};

	for (size_t k = 0; k < n_levels * N_ROWS; k++) {
		const struct msd_native_kernels *level = levels[k % n_levels];
		const struct row *r = &rows[k / n_levels];

		level->unary(r->op, x, 71, 1, 0, whole);
		if (k % n_levels == 0)
			memcpy(first, whole, sizeof(first));
		cr_expect(!levels_is_fused(level) || isnan(first[0]) ||
				  memcmp(first, whole, sizeof(first)) == 0 ||
				  r->op == MSD_NATIVE_LOG,
			  "%s %s: other bits", level->name, r->name);
		for (size_t n = 0; n <= 40; n++) {
			part[n] = 7;
			level->unary(r->op, x + 3, n, 1, 0, part);
			cr_expect(memcmp(part, whole + 3, n * sizeof(*part)) == 0,
				  "%s %s of %zu", level->name, r->name, n);
			cr_expect_eq(part[n], 7);
		}
	}
	free(x);
}

static double pair_of(enum msd_native_binary op, double a, double b)
{
	switch (op) {
	case MSD_NATIVE_ADD:
		return a + b;
	case MSD_NATIVE_SUB:
		return a - b;
	case MSD_NATIVE_MUL:
		return a * b;
	case MSD_NATIVE_DIV:
		return a / b;
	case MSD_NATIVE_MAX:
		return a > b || isnan(a) ? a : b;
	case MSD_NATIVE_MIN:
		return a < b || isnan(a) ? a : b;
	case MSD_NATIVE_SQUARED_DIFFERENCE:
		return (double)((float)(a - b) * (float)(a - b));
	case MSD_NATIVE_SLOPE:
		break;
	}
	return a < 0 ? a * b : a;
}

Test(native_elements, pairs_are_exact)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *a = levels_numbers(53, 6);
	float *b = levels_numbers(53, 7);

	a[3] = NAN;
	b[5] = NAN;
	a[7] = INFINITY;
	for (size_t k = 0; k < n_levels * 8 * 4; k++) {
		const enum msd_native_binary op = (enum msd_native_binary)(k / 4 % 8);
		const size_t a_step = k % 2;
		const size_t b_step = k / 2 % 2;
		float y[54] = {0};

		y[53] = 7;
		levels[k / 32]->binary(op, a + 1 - a_step, a_step, b, b_step, 53, y);
		cr_expect_eq(y[53], 7);
		for (size_t i = 0; i < 53; i++) {
			const float want =
				(float)pair_of(op, (double)a[a_step != 0 ? i : 1],
					       (double)b[i * b_step]);

			cr_expect(y[i] == want || (isnan(y[i]) && isnan(want)),
				  "%s op %d: %g, not %g", levels[k / 32]->name, (int)op,
				  (double)y[i], (double)want);
		}
	}
	free(a);
	free(b);
}
