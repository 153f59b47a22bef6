/* Powers with one exponent: as in the reference engine. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/agree.h"
#include "tests/runtime/native/levels.h"

static modser_sg_tensor *owned(modser_graph *g, size_t ndim, const int64_t *dims,
			       float *v)
{
	modser_sg_tensor *t = net_constant(g, "float32", ndim, dims, v);

	(void)modser_sg_tensor_set_buffer(t, v, free);
	return t;
}

/* The last elements are @last. */
static modser_graph *power(float exponent, const float last[static 4])
{
	const int64_t dims[] = {3, 1667};
	const int64_t one[] = {1, 1, 1};
	modser_graph *g = modser_graph_create("power");
	float *x = levels_numbers(3 * 1667, 81);
	float *by = levels_numbers(1, 82);

	memcpy(x + 3 * 1667 - 4, last, 4 * sizeof(*x));
	*by = exponent;
	(void)modser_graph_add_output(
		g, then(g, "Pow", owned(g, 2, dims, x), owned(g, 3, one, by)));
	return g;
}

Test(native_power, is_that_of_the_reference_engine)
{
	static const float exponents[] = {2, 3, 0.5f, -1.5f, 0, NAN};
	static const float last[] = {1, -2, 3, 4};

	for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++) {
		modser_graph *g = power(exponents[i], last);
		size_t n;
		float *want = run(g, "reference", 1, &n);
		float *is = run(g, "native", 1, &n);

		expect_close("Pow", is, want, n);
		expect_same_bits("Pow", g, is);
		free(want);
		free(is);
		modser_graph_destroy(g);
	}
}

Test(native_power, of_special_values)
{
	static const float exponents[] = {2, 3, 0.5f, -1.5f, 0, NAN};
	static const float special[] = {INFINITY, -INFINITY, NAN, -0.0f};

	for (size_t i = 0; i < sizeof(exponents) / sizeof(exponents[0]); i++) {
		modser_graph *g = power(exponents[i], special);
		size_t n;
		float *want = run(g, "reference", 1, &n);
		float *is = run(g, "native", 1, &n);

		for (size_t at = n - 4; at < n; at++) {
			cr_expect(isnan(want[at]) ? isnan(is[at]) : is[at] == want[at],
				  "%g: %g is not %g", (double)exponents[i],
				  (double)is[at], (double)want[at]);
		}
		free(want);
		free(is);
		modser_graph_destroy(g);
	}
}
