/* tvm.contrib.random.*: numbers in their range, the same for the same seeds. */
#include <criterion/criterion.h>
#include <math.h>
#include <string.h>

#include "tests/runtime/relax/builtin_support.h"

static const float *floats_of(const struct call *c, int i)
{
	return msd_any_dltensor(&c->args[i])->data;
}

static void draw(struct call *c, const char *name, const int64_t *seed, double a,
		 double b, int64_t n)
{
	if (seed != NULL)
		push_ints(c, seed, 2);
	push(c, msd_float(a));
	push(c, msd_float(b));
	push(c, tensor(float32, &n, 1));
	expect_ok(c, name);
}

/* What TVM 0.27 gives for these seeds. */
Test(random, seeds_give_the_numbers_of_tvm)
{
	struct call c = {0};

	draw(&c, "tvm.contrib.random.uniform", (const int64_t[]){1, 2}, 0, 1, 3);
	cr_assert_float_eq(floats_of(&c, 4)[0], 0.70904523, 1e-7);
	cr_assert_float_eq(floats_of(&c, 4)[1], 0.5520905, 1e-7);
	cr_assert_float_eq(floats_of(&c, 4)[2], 0.33536577, 1e-7);
	finish(&c);
}

Test(random, seeds_give_the_same_in_every_call)
{
	struct call a = {0};
	struct call b = {0};

	draw(&a, "tvm.contrib.random.normal", (const int64_t[]){5, -1}, 1, 2, 101);
	draw(&b, "tvm.contrib.random.normal", (const int64_t[]){5, -1}, 1, 2, 101);
	cr_assert_arr_eq(floats_of(&a, 4), floats_of(&b, 4), 101 * sizeof(float));
	finish(&a);
	finish(&b);
}

Test(random, without_seeds_calls_differ)
{
	struct call a = {0};
	struct call b = {0};

	draw(&a, "tvm.contrib.random.uniform", NULL, 0, 1, 64);
	draw(&b, "tvm.contrib.random.uniform", NULL, 0, 1, 64);
	cr_assert_neq(memcmp(floats_of(&a, 2), floats_of(&b, 2), 64 * sizeof(float)),
		      0);
	finish(&a);
	finish(&b);
}

Test(random, uniform_stays_within_its_limits)
{
	struct call c = {0};

	draw(&c, "tvm.contrib.random.uniform", NULL, -2, 3, 4096);
	for (int i = 0; i < 4096; i++)
		cr_assert(floats_of(&c, 2)[i] >= -2 && floats_of(&c, 2)[i] < 3);
	finish(&c);
}

Test(random, normal_has_its_mean_and_deviation)
{
	enum { N = 20000 };
	double sum = 0;
	double squares = 0;
	struct call c = {0};

	draw(&c, "tvm.contrib.random.normal", (const int64_t[]){3, 4}, 5, 2, N);
	for (int i = 0; i < N; i++) {
		sum += floats_of(&c, 4)[i];
		squares += pow(floats_of(&c, 4)[i] - 5, 2);
	}
	cr_assert_float_eq(sum / N, 5, 0.1);
	cr_assert_float_eq(sqrt(squares / N), 2, 0.1);
	finish(&c);
}

Test(random, randint_is_cut_to_the_dtype)
{
	struct call c = {0};

	PUSH_INTS(&c, -1000, 3);
	push(&c,
	     tensor((struct msd_dtype){MSD_DT_INT, 8, 1}, (const int64_t[]){500}, 1));
	expect_ok(&c, "tvm.contrib.random.randint");
	const int8_t *v = msd_any_dltensor(&c.args[2])->data;
	for (int i = 0; i < 500; i++)
		cr_assert_lt(v[i], 3);
	finish(&c);
}

Test(random, limits_in_the_wrong_order_are_refused)
{
	struct call c = {0};

	push(&c, msd_float(1));
	push(&c, msd_float(1));
	push(&c, x34());
	expect_error(&c, "tvm.contrib.random.uniform",
		     "ValueError: high must be bigger than low");
}

Test(random, a_fill_is_from_1_to_10)
{
	struct call c = {0};

	push(&c, x34());
	expect_ok(&c, "tvm.contrib.random.random_fill");
	for (int i = 0; i < 12; i++)
		cr_assert(floats_of(&c, 0)[i] >= 1 && floats_of(&c, 0)[i] <= 10);
	finish(&c);
}
