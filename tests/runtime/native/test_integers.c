/* Integer products around a tile: equal on every level, in any division, and nothing
 * written beyond the result. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/native/integers.h"
#include "tests/runtime/native/levels.h"

static const size_t sizes[] = {1, 2, 7, 8, 9, 15, 16, 17, 47, 48, 49, 70};
enum { N_SIZES = sizeof(sizes) / sizeof(sizes[0]), BEYOND = 3, GUARD = 77 };

enum form { SUMS, FLOATS, BYTES, BYTES_BY_COLUMN, N_FORMS };

/* Bytes of a fixed pattern with both extremes. */
static uint8_t *bytes_of(size_t n, unsigned seed)
{
	uint8_t *p = malloc(n + 1);
	uint32_t state = seed * 2654435761u + 1;

	cr_assert_not_null(p);
	for (size_t i = 0; i < n; i++) {
		state = state * 1664525u + 1013904223u;
		p[i] = i % 11 == 0 ? 0 : i % 13 == 0 ? 255 : (uint8_t)(state >> 24);
	}
	return p;
}

struct operands {
	size_t m, n, k;
	struct msd_native_bytes a, b; /* rows of a, columns of b in rows of k */
	int32_t *start;
	float *scales, *offsets;
};

/* Signed bytes have the zero point @zero, unsigned ones 131. */
static struct operands operands_of(size_t m, size_t n, size_t k, bool is_a_signed,
				   int32_t zero)
{
	const struct msd_native_bytes s = {NULL, 0x80, 128 + zero, 1};
	const struct msd_native_bytes u = {NULL, 0, 131, 1};
	struct operands o = {m,
			     n,
			     k,
			     is_a_signed ? s : u,
			     is_a_signed ? u : s,
			     malloc((m + n + 128) * sizeof(int32_t)),
			     levels_numbers(m + n + 128, 3),
			     levels_numbers(m + n + 128, 4)};

	cr_assert_not_null(o.start);
	o.a.p = bytes_of(m * k, 1);
	o.b.p = bytes_of(k * n, 2);
	for (size_t i = 0; i < m + n + 128; i++) {
		o.start[i] = (int32_t)(i * 7919 % 20001) - 10000;
		o.scales[i] *= 0.01f;
		o.offsets[i] *= 20;
	}
	return o;
}

static void operands_free(struct operands *o)
{
	free((void *)(uintptr_t)o->a.p);
	free((void *)(uintptr_t)o->b.p);
	free(o->start);
	free(o->scales);
	free(o->offsets);
}

static int64_t sum_of(const struct operands *o, size_t m, size_t n)
{
	int64_t sum = 0;

	for (size_t k = 0; k < o->k; k++) {
		sum += ((o->a.p[m * o->k + k] ^ o->a.flip) - o->a.zero) *
		       ((o->b.p[k * o->n + n] ^ o->b.flip) - o->b.zero);
	}
	return sum;
}

struct packed {
	const struct msd_native_units *u;
	size_t depth;
	float *a, *b, *scratch;
	int32_t *start; /* of sums: without what quads keep */
};

static float *floats_of(size_t n)
{
	float *p = calloc(n + 64, sizeof(*p));

	cr_assert_not_null(p);
	return p;
}

/* An operand without its zero point, unless quads keep it. */
static struct msd_native_bytes kept_of(const struct msd_native_units *u,
				       struct msd_native_bytes x)
{
	if (u->width == 4 && x.flip == 0)
		x.zero = 0;
	return x;
}

/* Row @i of a, or column @i of b, if that is signed: its sum times the other operand's
 * zero point. */
static int32_t kept_sum(const struct operands *o, size_t i)
{
	int32_t sum = 0;

	for (size_t k = 0; o->a.flip != 0 && i < o->m && k < o->k; k++)
		sum += ((o->a.p[i * o->k + k] ^ 0x80) - o->a.zero) * o->b.zero;
	for (size_t k = 0; o->b.flip != 0 && i < o->n && k < o->k; k++)
		sum += ((o->b.p[k * o->n + i] ^ 0x80) - o->b.zero) * o->a.zero;
	return sum;
}

static void pack_units(const struct operands *o, const struct msd_native_kernels *k,
		       const struct packed *p)
{
	float *units = floats_of((o->m + o->n) * p->depth);
	const size_t width = p->u->width;

	for (size_t m = 0; m < o->m; m++) {
		struct msd_native_bytes row = kept_of(p->u, o->a);

		row.p += m * o->k;
		p->u->row(&row, o->k, units + m * p->depth);
	}
	k->pack_a(units, p->depth, 1, o->m, p->depth, NULL, p->a);
	for (size_t q = 0; q < p->depth; q++) {
		struct msd_native_bytes row = kept_of(p->u, o->b);
		const size_t left = o->k - width * q;

		row.p += width * q * o->n;
		p->u->rows(&row, left < width ? left : width, o->n, NULL, o->n,
			   units + q * o->n);
	}
	k->pack_b(units, o->n, 1, p->depth, o->n, p->b);
	free(units);
}

static struct packed pack(const struct msd_native_kernels *k,
			  const struct msd_native_units *u, const struct operands *o)
{
	const size_t depth = (o->k + u->width - 1) / u->width;
	struct packed p = {u,
			   depth,
			   floats_of(k->pack_a_floats(o->m, depth)),
			   floats_of(k->pack_b_floats(depth, o->n)),
			   floats_of(k->integers->scratch(depth)),
			   (int32_t *)(void *)floats_of(o->m + o->n + 64)};

	for (size_t i = 0; i < o->m + o->n; i++)
		p.start[i] = o->start[i] - (u->width == 4 ? kept_sum(o, i) : 0);
	pack_units(o, k, &p);
	return p;
}

static void packed_free(struct packed *p)
{
	free(p->a);
	free(p->b);
	free(p->scratch);
	free(p->start);
}

static struct msd_native_integers
product_of(const struct operands *o, const struct packed *p, enum form form, void *y)
{
	struct msd_native_integers made = {
		.m = o->m,
		.n = o->n,
		.k = p->depth,
		.packed_a = p->a,
		.packed_b = p->b,
		.is_a_signed = o->a.flip != 0,
		.sums = {.by_column = form == BYTES_BY_COLUMN,
			 .is_float = form == FLOATS,
			 .start = p->start,
			 .scales = form == SUMS ? NULL : o->scales,
			 .offsets = form == BYTES ? NULL : o->offsets,
			 .rounding = {-100, 155, 100}},
		.y = y,
		.y_row = o->n + BEYOND,
	};

	return made;
}

/* The value of (m, n) before it is rounded. */
static double wanted(const struct operands *o, enum form form, size_t m, size_t n)
{
	const size_t at = form == BYTES_BY_COLUMN ? n : m;
	const double sum = (double)(sum_of(o, m, n) + o->start[at]);

	if (form == SUMS)
		return sum;
	const double v = sum * (double)o->scales[at] +
			 (form == BYTES ? 0 : (double)o->offsets[at]);
	return fmin(fmax(v, -100), 155);
}

static void expect_element(const struct operands *o, enum form form, size_t m, size_t n,
			   const char *y, const char *level)
{
	const size_t at = m * (o->n + BEYOND) + n;
	const double want = wanted(o, form, m, n);
	double is;

	if (form == SUMS) {
		is = ((const int32_t *)(const void *)y)[at];
		cr_assert_eq(is, want, "%s (%zu, %zu): %g, not %g", level, m, n, is,
			     want);
		return;
	}
	is = form == FLOATS ? (double)((const float *)(const void *)y)[at]
			    : (double)((const uint8_t *)y)[at] - 100;
	/* A byte is within half a step; float32 rounds a sum and a product. */
	cr_assert(fabs(is - want) <= (form == FLOATS ? 1e-3 : 0.501),
		  "%s %zu x %zu x %zu form %d (%zu, %zu): %g, not %g", level, o->m,
		  o->n, o->k, (int)form, m, n, is, want);
}

static void expect_product(const struct msd_native_kernels *k,
			   const struct msd_native_units *u, const struct operands *o,
			   enum form form, char *first, bool is_first)
{
	const size_t size = form == BYTES || form == BYTES_BY_COLUMN ? 1 : 4;
	const size_t bytes = (o->m * (o->n + BEYOND)) * size;
	struct packed p = pack(k, u, o);
	char *y = malloc(bytes);

	cr_assert_not_null(y);
	memset(y, GUARD, bytes);
	const struct msd_native_integers made = product_of(o, &p, form, y);
	u->product(&made, 0, o->m, 0, o->n, p.scratch);
	for (size_t m = 0; m < o->m; m++) {
		for (size_t n = 0; n < o->n; n++)
			expect_element(o, form, m, n, y, k->name);
		for (size_t i = o->n * size; i < (o->n + BEYOND) * size; i++)
			cr_assert_eq(y[m * (o->n + BEYOND) * size + i], GUARD);
	}
	if (is_first) {
		memcpy(first, y, bytes);
	} else {
		cr_assert(memcmp(first, y, bytes) == 0 ||
				  (!levels_is_fused(k) && form != SUMS),
			  "%s: other bits", k->name);
	}
	free(y);
	packed_free(&p);
}

Test(native_integers, products_are_equal_on_each_level, .timeout = 300)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);

	for (size_t i = 0; i < N_SIZES * N_SIZES * N_SIZES; i++) {
		const enum form form = (enum form)(i % N_FORMS);
		struct operands o = operands_of(
			sizes[i % N_SIZES], sizes[i / N_SIZES % N_SIZES],
			sizes[i / N_SIZES / N_SIZES], form != BYTES_BY_COLUMN, 0);
		char *first = malloc(o.m * (o.n + BEYOND) * sizeof(float));

		cr_assert_not_null(first);
		for (size_t k = 0; k < n_levels; k++) {
			const struct msd_native_integer_kernels *own =
				levels[k]->integers;

			expect_product(levels[k], own->pairs, &o, form, first, k == 0);
			if (own->quads != NULL) {
				expect_product(levels[k], own->quads, &o, form, first,
					       false);
			}
		}
		free(first);
		operands_free(&o);
	}
}

Test(native_integers, division_changes_no_sum)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	struct operands o = operands_of(61, 215, 801, true, 5);
	const size_t bytes = o.m * (o.n + BEYOND) * sizeof(int32_t);

	for (size_t i = 0; i < n_levels; i++) {
		const struct msd_native_kernels *k = levels[i];
		struct packed p = pack(k, k->integers->pairs, &o);
		char *whole = calloc(1, bytes);
		char *parts = calloc(1, bytes);
		struct msd_native_integers made = product_of(&o, &p, SUMS, whole);
		const size_t half = 2 * k->rows;

		cr_assert(whole != NULL && parts != NULL);
		p.u->product(&made, 0, o.m, 0, o.n, p.scratch);
		made.y = parts;
		p.u->product(&made, 0, half, 0, 2 * k->panel, p.scratch);
		p.u->product(&made, 0, half, 2 * k->panel, o.n, p.scratch);
		p.u->product(&made, half, o.m, 0, o.n, p.scratch);
		cr_expect(memcmp(whole, parts, bytes) == 0, "%s", k->name);
		expect_element(&o, SUMS, 60, 214, whole, k->name);
		free(whole);
		free(parts);
		packed_free(&p);
	}
	operands_free(&o);
}

/* Each length around a vector, and nothing beyond it. */
Test(native_integers, rows_of_bytes_end_where_they_should)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const struct msd_native_rounding r = {-128, 127, 128};

	for (size_t n = 0; n < 70 * n_levels; n++) {
		const struct msd_native_integer_kernels *k =
			levels[n % n_levels]->integers;
		const size_t count = n / n_levels;
		float *x = malloc((count + 1) * sizeof(*x));
		uint8_t *y = malloc(count + 1);

		cr_assert(x != NULL && y != NULL);
		for (size_t i = 0; i < count; i++)
			x[i] = (float)i * 1.5f - 20;
		y[count] = GUARD;
		k->quantize(x, count, 0.5f, r, y);
		cr_assert_eq(y[count], GUARD);
		const struct msd_native_bytes bytes = {y, 0, 128, 0.5f};
		x[count] = GUARD;
		k->dequantize(&bytes, count, x);
		cr_assert_eq(x[count], GUARD);
		for (size_t i = 0; i < count; i++) {
			const double want = fmin((double)i * 1.5 - 20, 63.5);

			cr_assert_eq((double)x[i], want, "%zu of %zu", i, count);
		}
		free(x);
		free(y);
	}
}

Test(native_integers, numbers_round_as_the_operator_says)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const float x[] = {0.5f,  1.5f, -0.5f, -1.5f,    2.5f,      254.5f,
			   255.f, 1e9f, -1e9f, INFINITY, -INFINITY, NAN};
	const uint8_t want[] = {10, 12, 10, 8, 12, 255, 255, 255, 0, 255, 0, 0};
	uint8_t y[sizeof(want)];

	for (size_t i = 0; i < n_levels; i++) {
		const struct msd_native_rounding r = {-10, 245, 10};

		levels[i]->integers->quantize(x, sizeof(want), 1, r, y);
		for (size_t k = 0; k < sizeof(want); k++) {
			cr_expect_eq(y[k], want[k], "%s: %g", levels[i]->name,
				     (double)x[k]);
		}
	}
}

/* Some numbers around each tie, and scales without a finite inverse. */
Test(native_integers, quotients_near_ties_round_as_the_division)
{
	const struct msd_native_kernels *levels[LEVELS_MOST];
	const size_t n_levels = levels_find(levels);
	const float scales[] = {0.05f, 0.1f, 1.f / 3, 7e-3f, 1, 3e-39f, 0, 3e38f};
	const struct msd_native_rounding r = {-100, 155, 100};

	for (size_t i = 0; i < 8 * 260 * n_levels; i++) {
		const float scale = scales[i % 8];
		const float tie = ((float)(i / 8 % 260) - 101.5f) * scale;
		float x[5] = {tie, nextafterf(tie, 1e38f), nextafterf(tie, -1e38f),
			      tie * 1.000001f, tie * 0.999999f};
		uint8_t y[5];

		levels[i / 8 / 260]->integers->quantize(x, 5, scale, r, y);
		for (size_t k = 0; k < 5; k++) {
			const float q = x[k] / scale;
			const float want = rintf(fminf(fmaxf(q, -100), 155)) + 100;

			cr_assert_eq(y[k], isnan(q) ? 0 : (uint8_t)want, "%a / %a",
				     (double)x[k], (double)scale);
		}
	}
}
