/* The last step of transposed convolutions: each product where its tap reaches, with
 * the same bits on each level. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/levels.h"

enum { MOST = 4000, START = 3 };

/* All outputs of @s by its definition: each product goes to one output. */
static void spread_plainly(const struct msd_native_spread *s, const float *x, float *y)
{
	const size_t taps = s->kernel[1] * s->kernel[2];

	for (size_t i = 0; i < s->out[1] * s->out[2]; i++)
		y[i] = START;
	for (size_t i = 0; i < taps * s->in[1] * s->in[2]; i++) {
		const size_t tap = i / s->in[1] / s->in[2];
		const size_t at = i % (s->in[1] * s->in[2]);
		const size_t h = at / s->in[2] * s->stride[1] +
				 tap / s->kernel[2] * s->dilation[1] - s->before[1];
		const size_t w = at % s->in[2] * s->stride[2] +
				 tap % s->kernel[2] * s->dilation[2] - s->before[2];

		if (h < s->out[1] && w < s->out[2])
			y[h * s->out[2] + w] += x[tap * s->pitch + at];
	}
}

static size_t extent(size_t in, size_t kernel, size_t stride, size_t dilation,
		     size_t before)
{
	return stride * (in - 1) + (kernel - 1) * dilation + 1 - before;
}

/* Combination @i of extents, strides and dilations. */
static struct msd_native_spread combination(size_t i)
{
	struct msd_native_spread s = {.in = {1, 2, 1 + i % 37},
				      .kernel = {1, 1 + i % 2, 1 + i % 3},
				      .stride = {1, 1 + i / 2 % 2, 1 + i / 3 % 4},
				      .dilation = {1, 2, 1 + i / 4 % 3},
				      .before = {0, i % 2, i / 5 % 2}};

	for (size_t k = 0; k < 3; k++) {
		s.out[k] = extent(s.in[k], s.kernel[k], s.stride[k], s.dilation[k], 0);
		s.before[k] = s.before[k] < s.out[k] ? s.before[k] : 0;
		s.out[k] -= s.before[k];
		s.to[k] = s.out[k];
	}
	s.pitch = s.in[1] * s.in[2] + i % 5;
	return s;
}

Test(native_spread, adds_products_where_taps_reach)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers(MOST, 71);
	static float want[MOST], y[MOST + 1], first[MOST + 1], room[MOST];
	const float *rows[4];

	for (size_t i = 0; i < 400 * n_levels; i++) {
		const struct msd_native_spread s = combination(i / n_levels);
		const struct msd_native_kernels *k = levels[i % n_levels];
		const size_t n = s.out[1] * s.out[2];

		spread_plainly(&s, x, want);
		y[n] = 7;
		k->spread(&s, x, START, rows, room, y);
		for (size_t j = 0; j < n; j++) {
			cr_assert(fabsf(y[j] - want[j]) < 1e-5f, "%s %zu: %zu", k->name,
				  i / n_levels, j);
		}
		cr_expect_eq(y[n], 7);
		if (i % n_levels == 0)
			memcpy(first, y, n * sizeof(*y));
		cr_expect(memcmp(first, y, n * sizeof(*y)) == 0, "%s: other bits",
			  k->name);
	}
	free(x);
}
