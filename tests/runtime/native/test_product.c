/* Products of all sizes around a tile: right, the same bits in any division and on
 * any level with fused multiply-add, and nothing written beyond the result. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/runtime/native/levels.h"

static const size_t sizes[] = {0, 1, 2, 4, 7, 8, 9, 11, 15, 16, 17, 47, 48, 49, 70};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]), BEYOND = 3 };
static const float guard = 12345;

/* Operands, rows of the result a bit apart and not aligned. */
struct operands {
	size_t m, n, k;
	float *a, *b, *start, *residual;
};

static struct operands operands_of(size_t m, size_t n, size_t k)
{
	return (struct operands){m,
				 n,
				 k,
				 levels_numbers(m * k, 1),
				 levels_numbers(k * n, 2),
				 levels_numbers(m + n, 3),
				 levels_numbers(m * (n + BEYOND), 4)};
}

static void operands_free(struct operands *o)
{
	free(o->a);
	free(o->b);
	free(o->start);
	free(o->residual);
}

enum form { BROUGHT, PACKED_A, PACKED_B, N_FORMS };

struct packed {
	float *a, *b, *scratch;
};

static struct packed pack(const struct msd_native_kernels *k, const struct operands *o)
{
	struct packed p = {malloc(k->pack_a_floats(o->m, o->k) * sizeof(float) + 4),
			   malloc(k->pack_b_floats(o->k, o->n) * sizeof(float) + 4),
			   malloc(*k->product_scratch * sizeof(float))};

	cr_assert(p.a != NULL && p.b != NULL && p.scratch != NULL);
	k->pack_a(o->a, o->k, 1, o->m, o->k, NULL, p.a);
	k->pack_b(o->b, o->n, 1, o->k, o->n, p.b);
	return p;
}

static void packed_free(struct packed *p)
{
	free(p->a);
	free(p->b);
	free(p->scratch);
}

static struct msd_native_product product_of(const struct msd_native_kernels *k,
					    const struct operands *o,
					    const struct packed *packed, enum form form,
					    float *y)
{
	return (struct msd_native_product){
		.m = o->m,
		.n = o->n,
		.k = o->k,
		.a = o->a,
		.a_row = o->k,
		.a_step = 1,
		.packed_a = form == PACKED_A ? packed->a : NULL,
		.packed_b = form == PACKED_B ? packed->b : NULL,
		.bring = k->bring_matrix,
		.b = o->b,
		.b_row = o->n,
		.b_step = 1,
		.y = y,
		.y_row = o->n + BEYOND,
		.start = o->start,
		.start_row = 1,
	};
}

static float *result(const struct operands *o)
{
	const size_t n = o->m * (o->n + BEYOND) + 1;
	float *y = malloc(n * sizeof(*y));

	cr_assert_not_null(y);
	for (size_t i = 0; i < n; i++)
		y[i] = guard;
	return y;
}

static double wanted(const struct operands *o, size_t m, size_t n)
{
	double sum = (double)o->start[m];

	for (size_t k = 0; k < o->k; k++)
		sum += (double)o->a[m * o->k + k] * (double)o->b[k * o->n + n];
	return sum;
}

static void expect_product(const struct operands *o, const float *y, const char *level)
{
	for (size_t m = 0; m < o->m; m++) {
		for (size_t n = 0; n < o->n + BEYOND; n++) {
			const float is = y[m * (o->n + BEYOND) + n];
			const double want = n < o->n ? wanted(o, m, n) : (double)guard;

			cr_assert(fabs((double)is - want) <= 1e-6 * (10 + (double)o->k),
				  "%s %zu x %zu x %zu: (%zu, %zu) is %g, not %g", level,
				  o->m, o->n, o->k, m, n, (double)is, want);
		}
	}
}

static void expect_forms(const struct msd_native_kernels *k, const struct operands *o,
			 float *first)
{
	struct packed packed = pack(k, o);

	for (enum form form = 0; form < N_FORMS; form++) {
		float *y = result(o);
		const struct msd_native_product p =
			product_of(k, o, &packed, form, y + 1);

		k->product(&p, 0, o->m, 0, o->n, packed.scratch);
		if (form == 0)
			expect_product(o, y + 1, k->name);
		if (form == 0 && first[0] == 0)
			memcpy(first, y, (o->m * (o->n + BEYOND) + 1) * sizeof(*y));
		if (levels_is_fused(k) || form > 0) {
			cr_assert(!levels_is_fused(k) ||
					  memcmp(first, y,
						 (o->m * (o->n + BEYOND) + 1) *
							 sizeof(*y)) == 0,
				  "%s %zu x %zu x %zu form %d: other bits", k->name,
				  o->m, o->n, o->k, (int)form);
		}
		free(y);
	}
	packed_free(&packed);
}

Test(native_product, is_right_with_the_same_bits_on_each_level, .timeout = 300)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < N_SIZES * N_SIZES * N_SIZES; i++) {
		struct operands o =
			operands_of(sizes[i % N_SIZES], sizes[i / N_SIZES % N_SIZES],
				    sizes[i / N_SIZES / N_SIZES]);
		float *first = result(&o);

		first[0] = 0;
		for (size_t k = 0; k < n_levels; k++)
			expect_forms(levels[k], &o, first);
		free(first);
		operands_free(&o);
	}
}

/* A product of several blocks in each direction. */
Test(native_product, division_changes_no_bit)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	struct operands o = operands_of(301, 211, 801);
	const size_t bytes = (o.m * (o.n + BEYOND) + 1) * sizeof(float);

	for (size_t i = 0; i < n_levels; i++) {
		const struct msd_native_kernels *k = levels[i];
		struct packed packed = pack(k, &o);

		for (enum form form = 0; form < N_FORMS; form++) {
			float *whole = result(&o);
			float *parts = result(&o);
			struct msd_native_product p =
				product_of(k, &o, &packed, form, whole);
			const size_t half = 20 * k->rows;

			k->product(&p, 0, o.m, 0, o.n, packed.scratch);
			p.y = parts;
			k->product(&p, 0, half, 0, 2 * k->panel, packed.scratch);
			k->product(&p, 0, half, 2 * k->panel, o.n, packed.scratch);
			k->product(&p, half, o.m, 0, o.n, packed.scratch);
			cr_expect(memcmp(whole, parts, bytes) == 0, "%s", k->name);
			expect_product(&o, whole, k->name);
			free(whole);
			free(parts);
		}
		packed_free(&packed);
	}
	operands_free(&o);
}

static void expect_finished(const struct operands *o, const float *y, const char *level)
{
	for (size_t i = 0; i < o->m * o->n; i++) {
		const size_t m = i / o->n;
		const size_t n = i % o->n;
		const size_t at = m * (o->n + BEYOND) + n;
		double want = wanted(o, m, n) - (double)o->start[m] +
			      (double)o->start[n] + (double)o->residual[at];

		want = want < -2 ? -2 : want > 3 ? 3 : want;
		want = want < 0 ? want / 4 : want;
		cr_expect(fabs((double)y[at] - want) < 1e-4, "%s (%zu, %zu)", level, m,
			  n);
	}
}

static void expect_finish(const struct msd_native_kernels *k, const struct operands *o,
			  enum form form)
{
	const struct msd_native_finish finish = {.is_bounded = true,
						 .low = -2,
						 .high = 3,
						 .has_function = true,
						 .function = MSD_NATIVE_LEAKY,
						 .a = 0.25f};
	struct packed packed = pack(k, o);
	float *y = result(o);
	struct msd_native_product p = product_of(k, o, &packed, form, y);

	p.start_row = 0;
	p.start_columns = true;
	p.residual = o->residual;
	p.finish = finish;
	k->product(&p, 0, o->m, 0, o->n, packed.scratch);
	expect_finished(o, y, k->name);
	free(y);
	packed_free(&packed);
}

/* A start by column, then a residual, bounds and a function; with each number of
 * columns behind the last vector. */
Test(native_product, finishes_complete_sums)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t n = 49; n < 65; n++) {
		struct operands o = operands_of(13, n, 400);

		for (size_t i = 0; i < n_levels * N_FORMS; i++) {
			expect_finish(levels[i / N_FORMS], &o,
				      (enum form)(i % N_FORMS));
		}
		operands_free(&o);
	}
}

Test(native_product, keeps_what_is_not_a_number)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	struct operands o = operands_of(3, 20, 5);

	o.a[5] = NAN;       /* row 1 */
	o.a[10] = INFINITY; /* row 2 */
	for (size_t i = 0; i < n_levels; i++) {
		struct packed packed = pack(levels[i], &o);
		float *y = result(&o);
		struct msd_native_product p =
			product_of(levels[i], &o, &packed, PACKED_A, y);

		p.finish = (struct msd_native_finish){.is_bounded = true, .high = 6};
		levels[i]->product(&p, 0, o.m, 0, o.n, packed.scratch);
		for (size_t n = 0; n < o.n; n++) {
			cr_expect(y[n] >= 0 && y[n] <= 6);
			cr_expect(isnan(y[o.n + BEYOND + n]), "%s", levels[i]->name);
			cr_expect_eq(y[2 * (o.n + BEYOND) + n], o.b[n] > 0 ? 6 : 0);
		}
		free(y);
		packed_free(&packed);
	}
	operands_free(&o);
}

enum { OUT = 7, ROW = 9, DEPTH = 3, ROOM = 256 };

static void expect_nothing_behind(const struct msd_native_kernels *k, const float *x)
{
	const struct msd_native_window w = {
		.out = {1, OUT, OUT},
		.stride = {1, 1, 1},
		.columns = ROW,
		.plane = (size_t)ROW * ROW,
		.n_taps = 1,
		.x = x,
	};
	const struct msd_native_product p = {.window = &w};
	float ret[ROOM];

	cr_assert_lt(DEPTH * k->panel, ROOM);
	for (size_t i = 0; i < ROOM; i++)
		ret[i] = guard;
	k->bring_window(&p, 0, DEPTH, 0, k->panel, ret);
	for (size_t i = DEPTH * k->panel; i < ROOM; i++)
		cr_assert_eq(ret[i], guard, "%s: %zu", k->name, i);
}

/* Threads fill neighbouring panels at the same time. */
Test(native_product, windows_are_brought_without_writing_behind_them)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	float *x = levels_numbers((size_t)DEPTH * ROW * ROW + MSD_NATIVE_ROOM, 5);

	for (size_t i = 0; i < n_levels; i++)
		expect_nothing_behind(levels[i], x);
	free(x);
}
