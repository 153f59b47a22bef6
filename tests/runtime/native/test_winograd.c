/* Winograd's convolutions on each level: right, and the same bits on any level with
 * fused multiply-add. Layers with elements that are too large for it are computed as
 * sums of products. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

#include "runtime/engine/native/winograd.h"
#include "runtime/pool/pool.h"
#include "tests/runtime/native/levels.h"

/* Tiles of a plane that is padded by one. */
struct shape {
	struct msd_native_winograd w;
	struct msd_native_window pad;
};

static struct shape shape_of(size_t rows, size_t columns)
{
	struct shape s = {
		.w = {(rows + 1) / 2,
		      (columns + 1) / 2,
		      {rows, columns},
		      (columns + 1) / 2 + 1,
		      0},
	};

	const size_t lines = s.w.rows + 1;
	s.w.phase = lines * s.w.row;
	s.pad = (struct msd_native_window){
		.kernel = {1, 3, 3},
		.stride = {1, 2, 2},
		.in = {1, rows, columns},
		.before = {0, 1, 1},
		.rows = {1, 2 * lines},
		.lines = lines,
		.columns = s.w.row,
		.plane = 4 * s.w.phase,
	};
	return s;
}

/* A kernel that copies the element in its middle: its values are G g G'. */
static const float middle[MSD_NATIVE_WINOGRAD] = {
	0, 0, 0, 0, 0, 0.25f, -0.25f, 0, 0, -0.25f, 0.25f, 0, 0, 0, 0, 0};

static float *copy_plane(const struct msd_native_kernels *k, const struct shape *s,
			 const float *x)
{
	const size_t tiles = s->w.rows * s->w.columns;
	const size_t n = (tiles + k->panel - 1) / k->panel * k->panel;
	float *plane = calloc(s->pad.plane + MSD_NATIVE_ROOM, sizeof(float));
	float *values = calloc(MSD_NATIVE_WINOGRAD * n, sizeof(float));
	float *y = calloc(s->w.out[0] * s->w.out[1] + 1, sizeof(float));

	cr_assert(plane != NULL && values != NULL && y != NULL);
	k->pad_plane(&s->pad, x, false, plane);
	k->winograd_bring(&s->w, plane, 1, 0, tiles, n, values);
	for (size_t i = 0; i < MSD_NATIVE_WINOGRAD * n; i++)
		values[i] *= middle[i / n];
	k->winograd_put(
		&s->w,
		&(struct msd_native_winograd_out){
			.sums = values, .size = n, .n = tiles, .start = 0.5f, .y = y});
	free(plane);
	free(values);
	return y;
}

Test(native_winograd, brings_and_puts_each_element)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < n_levels * 81; i++) {
		const struct msd_native_kernels *k = levels[i / 81];
		const size_t rows = i % 9 + 1;
		const size_t columns = i / 9 % 9 * 2 + 1 + i % 2;
		const struct shape s = shape_of(rows, columns);
		float *x = levels_numbers(rows * columns, (unsigned)i % 81);
		float *y = copy_plane(k, &s, x);

		for (size_t e = 0; e < rows * columns; e++) {
			cr_assert_float_eq(y[e], x[e] + 0.5f, 1e-6,
					   "%s: %zu x %zu, %zu", k->name, rows, columns,
					   e);
		}
		cr_assert_eq(y[rows * columns], 0, "written beyond the plane");
		free(x);
		free(y);
	}
}

Test(native_winograd, has_equal_bits_on_fused_levels)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const struct shape s = shape_of(9, 21);
	float *x = levels_numbers(9 * 21, 3);
	float *first = NULL;

	for (size_t i = 0; i < n_levels; i++) {
		if (!levels_is_fused(levels[i]))
			continue;
		float *y = copy_plane(levels[i], &s, x);

		if (first != NULL) {
			cr_expect_arr_eq(y, first, 9 * 21 * sizeof(*y), "%s",
					 levels[i]->name);
		}
		free(first);
		first = y;
	}
	free(first);
	free(x);
}

Test(native_winograd, finds_wild_elements)
{
	static const float wild[] = {INFINITY, -INFINITY, NAN, 2e15f, -2e15f};
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < n_levels * 5 * 40; i++) {
		const struct msd_native_kernels *k = levels[i / 200];
		const size_t at = i % 40;
		float x[40] = {0};

		x[(at + 1) % 40] = 1e15f;
		cr_assert(k->is_tame(x, 40));
		cr_assert(k->is_tame(x, at));
		x[at] = wild[i / 40 % 5];
		cr_assert(!k->is_tame(x, 40), "%s, %zu", k->name, at);
		cr_assert(!k->is_tame(x, at + 1), "%s, %zu", k->name, at);
		cr_assert(k->is_tame(x, at), "%s, %zu", k->name, at);
	}
}

Test(native_winograd, finds_a_wild_element_on_any_thread)
{
	enum { N = 100000 };
	static const size_t at[] = {0, 16383, 16384, 60000, N - 1};
	float *x = calloc(N, sizeof(*x));

	cr_assert_not_null(x);
	for (unsigned threads = 1; threads <= 3; threads++) {
		msd_pool_stop();
		msd_pool_configure(threads);
		cr_expect(msd_native_winograd_takes(x, N));
		for (size_t i = 0; i < sizeof(at) / sizeof(*at); i++) {
			x[at[i]] = INFINITY;
			cr_expect(!msd_native_winograd_takes(x, N), "%zu", at[i]);
			x[at[i]] = 0;
		}
	}
	msd_pool_stop();
	free(x);
}
