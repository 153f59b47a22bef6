/* Resize by the native engine and by the reference engine, and its kernels. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/graph/one.h"
#include "tests/runtime/native/agree.h"

struct size {
	size_t ndim;
	int64_t in[4];
	float scales[4];
};

static const struct size sizes[] = {
	{4, {2, 3, 9, 17}, {1, 1, 2, 2}},
	{4, {1, 5, 7, 3}, {1, 1, 2.5f, 3.4f}},
	{4, {1, 2, 40, 33}, {1, 1, 0.3f, 0.7f}},
	{4, {1, 9, 8, 5}, {1, 2, 1.5f, 1}}, /* channels last */
	{4, {2, 3, 5, 6}, {2, 0.7f, 3, 1.7f}},
	{1, {50}, {0.37f}},
	{2, {1, 19}, {3, 5}},
	{3, {4, 1, 70}, {1, 1, 1}},
	{4, {0, 3, 5, 6}, {1, 1, 2, 2}},
};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]) };

static void set_text(modser_sg_node *node, const char *name, const char *text)
{
	const modser_sg_attr a = {.kind = MODSER_ATTR_STR, .as.s = text};

	cr_assert_eq(modser_sg_op_set_param(modser_sg_node_op(node), name, &a), 0);
}

static struct one resize_of(modser_sg_tensor **ret_x, const struct size *s,
			    const char *mode, const char *way)
{
	struct one o = one_begin("Resize");
	const int64_t n = (int64_t)s->ndim;
	float *scales = malloc(sizeof(s->scales));

	cr_assert_not_null(scales);
	memcpy(scales, s->scales, sizeof(s->scales));
	*ret_x = given(o.g, s->ndim, s->in, 61);
	modser_sg_tensor *by = net_constant(o.g, "float32", 1, &n, scales);
	(void)modser_sg_tensor_set_buffer(by, scales, free);
	set_text(o.node, "mode", mode);
	set_text(o.node, "coordinate_transformation_mode", way);
	(void)modser_sg_node_add_input(o.node, *ret_x);
	(void)modser_sg_node_add_input(o.node, NULL);
	(void)modser_sg_node_add_input(o.node, by);
	return o;
}

static void expect_agreement(const char *what, struct one *o)
{
	size_t n;
	float *want = run(o->g, "reference", 1, &n);
	float *is = run(o->g, "native", 1, &n);

	expect_close(what, is, want, n);
	expect_same_bits(what, o->g, is);
	free(want);
	free(is);
	one_end(o);
}

Test(native_resize, agrees, .timeout = 300)
{
	static const char *const modes[] = {"nearest", "linear", "cubic"};
	static const char *const ways[] = {"half_pixel", "asymmetric", "align_corners",
					   "pytorch_half_pixel",
					   "half_pixel_symmetric"};
	modser_sg_tensor *x;

	for (size_t i = 0; i < N_SIZES * 3 * 5; i++) {
		const char *mode = modes[i / 5 % 3];
		struct one o = resize_of(&x, &sizes[i / 15], mode, ways[i % 5]);

		set_int(o.node, "exclude_outside", (int64_t)i % 2);
		expect_agreement(mode, &o);
	}
}

/* The filter of a shrunk axis has more rows than are summed at once. */
Test(native_resize, agrees_with_wide_filters)
{
	static const struct size wide[] = {{4, {1, 2, 90, 80}, {1, 1, 0.05f, 0.08f}},
					   {2, {45, 33}, {0.3f, 0.3f}}};
	modser_sg_tensor *x;

	for (size_t i = 0; i < 4; i++) {
		const char *mode = i < 2 ? "linear" : "cubic";
		struct one o = resize_of(&x, &wide[i % 2], mode, "half_pixel");

		set_int(o.node, "antialias", 1);
		expect_agreement(mode, &o);
	}
}

/* A tap without weight adds nothing, not even the product of 0 and infinity. */
Test(native_resize, keeps_wild_elements_apart)
{
	static const struct size s = {4, {1, 2, 9, 9}, {1, 1, 3, 2}};
	modser_sg_tensor *x;
	size_t n;

	for (size_t i = 0; i < 6; i++) {
		struct one o = resize_of(&x, &s, i < 3 ? "linear" : "nearest",
					 i % 3 == 0   ? "asymmetric"
					 : i % 3 == 1 ? "align_corners"
						      : "half_pixel");
		float *at =
			(float *)(uintptr_t)modser_sg_tensor_data(x, &(uint64_t){0});

		at[0] = INFINITY;
		at[40] = NAN;
		at[80] = -INFINITY;
		float *want = run(o.g, "reference", 1, &n);
		float *is = run(o.g, "native", 1, &n);
		for (size_t k = 0; k < n; k++) {
			cr_assert(isnan(want[k])   ? isnan(is[k])
				  : isinf(want[k]) ? is[k] == want[k]
						   : fabsf(is[k] - want[k]) < 1e-5f,
				  "%zu: element %zu is %g, not %g", i, k, (double)is[k],
				  (double)want[k]);
		}
		free(want);
		free(is);
		one_end(&o);
	}
}

enum { MOST = 70 };

static void expect_levels(const struct msd_native_taps *t, const float *x, size_t n)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const float *rows[] = {x, x + n, x + 2 * n};
	float first[2][MOST + 1];
	float y[2][MOST + 1];

	for (size_t i = 0; i < n_levels; i++) {
		const struct msd_native_kernels *k = levels[i];

		y[0][n] = y[1][n] = 7;
		k->resample(t, x, n, y[0]);
		k->weigh(rows, x, 3, n, y[1]);
		cr_expect(y[0][n] == 7 && y[1][n] == 7);
		for (size_t j = 0; j < n; j++) {
			double want = 0;

			for (size_t q = 0; q < t->n; q++) {
				want += (double)t->weight[j * t->n + q] *
					(double)x[t->at[j * t->n + q]];
			}
			cr_expect(fabs((double)y[0][j] - want) < 1e-6, "%s of %zu",
				  k->name, n);
		}
		if (i == 0)
			memcpy(first, y, sizeof(first));
		for (size_t q = 0; q < 2 && levels_is_fused(k); q++) {
			cr_expect(memcmp(first[q], y[q], n * sizeof(float)) == 0,
				  "%s of %zu: other bits", k->name, n);
		}
	}
}

Test(native_resize, has_the_same_bits_on_each_level)
{
	float *x = levels_numbers(3 * MOST, 62);
	float *weight = levels_numbers(4 * MOST, 63);
	float *ones = calloc(MOST, sizeof(*ones));
	int32_t at[4 * MOST];

	cr_assert_not_null(ones);
	for (size_t i = 0; i < MOST; i++)
		ones[i] = 1;
	for (size_t i = 0; i < (size_t)4 * MOST; i++) {
		at[i] = (int32_t)(i * 31 % MOST);
		weight[i] = i % 5 == 0 ? 0 : weight[i];
	}
	for (size_t i = 4; i <= (size_t)4 * MOST; i++) {
		const size_t taps = 1 + i % 4;
		const struct msd_native_taps t = {taps, at, taps == 1 ? ones : weight,
						  taps == 1, false};

		expect_levels(&t, x, i / 4);
	}
	free(x);
	free(weight);
	free(ones);
}

/* Doubled rows of each length: what taps would move, and nothing behind. */
Test(native_resize, doubles_rows)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(MOST, 64);

	for (size_t i = 0; i < n_levels * MOST; i++) {
		const size_t n = i / n_levels;
		const struct msd_native_taps t = {
			.n = 1, .is_moved = true, .is_doubled = true};
		float y[MOST + 1];

		y[n] = 12345;
		levels[i % n_levels]->resample(&t, x, n, y);
		for (size_t q = 0; q < n; q++)
			cr_assert_eq(y[q], x[q / 2]);
		cr_assert_eq(y[n], 12345);
	}
	free(x);
}
