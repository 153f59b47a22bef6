/* A convolution by channels has the bits of the plain loop that defines it, whatever
 * its strides, steps and padding, and where its rows are longer than a stretch. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/graph/one.h"

enum { PLANES = 3, HIGH = 5 };

struct shape {
	int64_t wide;
	int64_t kernel;
	int64_t stride;
	int64_t dilation;
	int64_t before;
	int64_t after;
};

static float element(int64_t i)
{
	return (float)((i * 37 + 11) % 101) / 17.0f - 2.5f;
}

static float *elements(int64_t n)
{
	float *p = calloc((size_t)n, sizeof(*p));

	cr_assert_not_null(p);
	for (int64_t i = 0; i < n; i++)
		p[i] = element(i);
	return p;
}

static int64_t places(const struct shape *s, int64_t in)
{
	return (in + s->before + s->after - (s->kernel - 1) * s->dilation - 1) /
		       s->stride +
	       1;
}

static double at(const struct shape *s, const float *x, int64_t plane, int64_t row,
		 int64_t column)
{
	const bool is_inside =
		row >= 0 && row < HIGH && column >= 0 && column < s->wide;

	return is_inside ? (double)x[(plane * HIGH + row) * s->wide + column] : 0;
}

static float loop(const struct shape *s, const float *x, const float *w, int64_t plane,
		  int64_t row, int64_t column)
{
	double sum = (double)element(plane); /* the bias */

	for (int64_t i = 0; i < s->kernel; i++) {
		for (int64_t k = 0; k < s->kernel; k++) {
			sum += (double)w[(plane * s->kernel + i) * s->kernel + k] *
			       at(s, x, plane,
				  row * s->stride - s->before + i * s->dilation,
				  column * s->stride - s->before + k * s->dilation);
		}
	}
	return (float)sum;
}

static struct one convolution(const struct shape *s, const float *x, const float *w,
			      const float *bias)
{
	const struct {
		const char *name;
		int64_t value;
	} params[] = {{"kernel_h", s->kernel},     {"kernel_w", s->kernel},
		      {"stride_h", s->stride},     {"stride_w", s->stride},
		      {"dilation_h", s->dilation}, {"dilation_w", s->dilation},
		      {"pad_h0", s->before},       {"pad_w0", s->before},
		      {"pad_h1", s->after},        {"pad_w1", s->after},
		      {"group", PLANES},           {"output_channel", PLANES}};
	const int64_t in[] = {1, PLANES, HIGH, s->wide};
	const int64_t kernels[] = {PLANES, 1, s->kernel, s->kernel};
	struct one o = one_begin("Convolution");

	for (size_t i = 0; i < sizeof(params) / sizeof(params[0]); i++) {
		cr_assert_eq(modser_sg_op_set_int(modser_sg_node_op(o.node),
						  params[i].name, params[i].value),
			     0, "%s", params[i].name);
	}
	one_add_shaped(&o, "float32", 4, in, x);
	one_add_shaped(&o, "float32", 4, kernels, w);
	one_add_constant(&o, "float32", PLANES, bias);
	return o;
}

static void expect_bits_of_loop(const struct shape *s)
{
	float *x = elements(PLANES * HIGH * s->wide);
	float *w = elements(PLANES * s->kernel * s->kernel);
	float *bias = elements(PLANES);
	struct one o = convolution(s, x, w, bias);
	const int64_t high = places(s, HIGH);
	const int64_t wide = places(s, s->wide);

	cr_assert_eq(setenv("MODSERD_ENGINE", "reference", 1), 0);
	cr_assert_eq(msd_plan_create(o.g, &o.plan, &o.d), MSD_OK, "%s",
		     msd_diag_text(&o.d));
	cr_assert_eq(msd_plan_run(o.plan, NULL, &o.d), MSD_OK);
	const float *y = msd_plan_output(o.plan, 0);
	for (int64_t i = 0; i < PLANES * high * wide; i++) {
		const float want =
			loop(s, x, w, i / wide / high, i / wide % high, i % wide);

		cr_expect(memcmp(&y[i], &want, sizeof(want)) == 0,
			  "width %lld kernel %lld stride %lld: element %lld",
			  (long long)s->wide, (long long)s->kernel,
			  (long long)s->stride, (long long)i);
	}
	one_end(&o);
	free(x);
	free(w);
	free(bias);
}

Test(by_channel, has_the_bits_of_the_loop)
{
	for (int64_t i = 0; i < 3 * 2 * 3 * 2; i++) {
		const struct shape s = {.wide = i % 2 == 0 ? 67 : 6,
					.kernel = 1 + i / 2 % 3,
					.stride = 1 + i / 6 % 3,
					.dilation = 1 + i / 18 % 2,
					.before = i % 3,
					.after = i / 3 % 2};

		if (places(&s, HIGH) > 0 && places(&s, s.wide) > 0)
			expect_bits_of_loop(&s);
	}
}

Test(by_channel, strides_and_kernels_beyond_a_line_are_computed_as_others_are)
{
	const struct shape wide_stride = {700, 3, 5, 1, 1, 1};
	const struct shape wide_reach = {700, 2, 1, 2, 2, 2};
	const struct shape far = {900, 2, 1, 300, 300, 300};

	expect_bits_of_loop(&wide_stride);
	expect_bits_of_loop(&wide_reach);
	expect_bits_of_loop(&far);
}
