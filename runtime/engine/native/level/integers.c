/*
 * Products of integers. A tile of ROWS rows and one panel keeps its sums in registers
 * over all of k, and goes through a small buffer when it is finished: its elements are
 * scaled, rounded and stored by rows, also the last columns of the output.
 */
#include "runtime/engine/native/level/integers.h"

enum { BLOCK = 1536, MOST_PANELS = 6 }; /* units deep times panels */

/* sum + a0 b0 + a1 b1 of each lane */
INLINE ivec dot(ivec sum, ivec a, ivec b)
{
#if defined(__AVX512VNNI__) && MSD_LANES == 16
	return (ivec)_mm512_dpwssd_epi32((__m512i)sum, (__m512i)a, (__m512i)b);
#elif defined(__AVX512BW__) && MSD_LANES == 16
	return sum + (ivec)_mm512_madd_epi16((__m512i)a, (__m512i)b);
#elif defined(__AVX2__) && MSD_LANES == 8
	return sum + (ivec)_mm256_madd_epi16((__m256i)a, (__m256i)b);
#elif defined(__SSE2__) && MSD_LANES == 4
	return sum + (ivec)_mm_madd_epi16((__m128i)a, (__m128i)b);
#else
	const ivec low = ((ivec)((uvec)a << 16) >> 16) * ((ivec)((uvec)b << 16) >> 16);

	return sum + low + (a >> 16) * (b >> 16);
#endif
}

struct tile {
	const unit_at *a;
	const unit_at *b;
	size_t k;
	int32_t sums[ROWS * PANEL];
};

INLINE void run_tile(struct tile *t, const int rows, const int vectors)
{
	ivec sums[ROWS][VECTORS];
	const unit_at *a = t->a;
	const unit_at *b = t->b;

#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			sums[r][v] = (ivec){0};
	}
	for (size_t k = 0; k < t->k; k++, a += ROWS, b += PANEL) {
		ivec bv[VECTORS];
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			bv[v] = load_units(b + v * LANES);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++)
				sums[r][v] = dot(sums[r][v], all_units(a[r]), bv[v]);
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			store_units(t->sums + r * PANEL + v * LANES, sums[r][v]);
	}
}

typedef void tile_fn(struct tile *t);

#define TILE(r, v)                                                                     \
	static void tile_##r##_##v(struct tile *t)                                     \
	{                                                                              \
		run_tile(t, r, v);                                                     \
	}
#if MSD_VECTORS == 3
#define TILES(r) TILE(r, 1) TILE(r, 2) TILE(r, 3)
#define ROW(r)                                                                         \
	{                                                                              \
		tile_##r##_1, tile_##r##_2, tile_##r##_3                               \
	}
#else
#define TILES(r) TILE(r, 1) TILE(r, 2)
#define ROW(r)                                                                         \
	{                                                                              \
		tile_##r##_1, tile_##r##_2                                             \
	}
#endif
TILES(1)
TILES(2)
TILES(3)
TILES(4)
TILES(5)
TILES(6)
#if MSD_ROWS == 8
TILES(7)
TILES(8)
#endif

static tile_fn *const tiles[ROWS][VECTORS] = {
	ROW(1), ROW(2), ROW(3), ROW(4), ROW(5), ROW(6),
#if MSD_ROWS == 8
	ROW(7), ROW(8),
#endif
};

INLINE ivec start_of(const struct msd_native_sums *s, size_t row, size_t column)
{
	if (s->start == NULL)
		return (ivec){0};
	return s->by_column ? load_units(s->start + column) : all_units(s->start[row]);
}

INLINE vec part_of(const struct msd_native_sums *s, const float *parts, size_t row,
		   size_t column)
{
	return s->by_column ? load(parts + column) : all(parts[row]);
}

/* Element @column of @y and on, @left of them. */
INLINE void put_vector(const struct msd_native_sums *s, ivec sum, size_t row,
		       size_t column, size_t left, void *y)
{
	const size_t n = left < LANES ? left : LANES;
	const ivec whole = sum + start_of(s, row, column);

	if (s->scales == NULL) {
		memcpy((int32_t *)y + column, &whole, n * sizeof(int32_t));
		return;
	}
	vec v = to_floats(whole) * part_of(s, s->scales, row, column);
	if (s->offsets != NULL)
		v = v + part_of(s, s->offsets, row, column);
	if (s->is_float) {
		v = least(most(v, all(s->rounding.low)), all(s->rounding.high));
		memcpy((float *)y + column, &v, n * sizeof(float));
	} else {
		store_some_bytes((uint8_t *)y + column, round_bytes(v, &s->rounding),
				 left);
	}
}

void LEVEL(integer_put)(const struct msd_native_sums *s, const float *sums, size_t row,
			size_t n, void *y)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec v =
			left < LANES ? load_some(sums + i, left, 0) : load(sums + i);

		put_vector(s, __builtin_convertvector(v, ivec), row, i, left, y);
	}
}

static size_t element_of(const struct msd_native_sums *s)
{
	return s->scales != NULL && !s->is_float ? 1 : sizeof(float);
}

/* The tile at row @m and column @n. */
static void run_one(const struct msd_native_integers *p, struct tile *t, size_t m,
		    size_t m1, size_t n, size_t n1)
{
	const size_t columns = n1 - n < PANEL ? n1 - n : PANEL;
	const size_t rows = m1 - m < ROWS ? m1 - m : ROWS;
	const size_t size = element_of(&p->sums);

	t->a = (const unit_at *)(const void *)p->packed_a + m * p->k;
	/* The analyzer does not see that all are set. NOLINTNEXTLINE */
	tiles[rows - 1][(columns + LANES - 1) / LANES - 1](t);
	for (size_t r = 0; r < rows; r++) {
		char *y = (char *)p->y + (m + r) * p->y_row * size;

		for (size_t c = 0; c < columns; c += LANES) {
			put_vector(&p->sums, load_units(t->sums + r * PANEL + c), m + r,
				   n + c, columns - c, y);
		}
	}
}

static size_t panels_of(size_t k)
{
	const size_t n = BLOCK / (k + 1) + 1;

	return n < MOST_PANELS ? n : MOST_PANELS;
}

size_t LEVEL(integer_scratch)(size_t k)
{
	return panels_of(k) * k * PANEL + PANEL;
}

void LEVEL(integer_product)(const struct msd_native_integers *p, size_t m0, size_t m1,
			    size_t n0, size_t n1, float *scratch)
{
	const struct msd_native_product from = {.window = p->window};
	const size_t step = panels_of(p->k) * PANEL;
	struct tile t = {.k = p->k};

	for (size_t block = n0; block < n1; block += step) {
		const size_t end = n1 - block < step ? n1 : block + step;
		const float *b = scratch;

		if (p->packed_b != NULL) {
			b = p->packed_b + block * p->k;
		} else {
			LEVEL(bring_window)
			(&from, 0, p->k, block, end - block, scratch);
		}
		for (size_t n = block; n < end; n += PANEL) {
			t.b = (const unit_at *)(const void *)(b + (n - block) * p->k);
			for (size_t m = m0; m < m1; m += ROWS)
				run_one(p, &t, m, m1, n, end);
		}
	}
}

const struct msd_native_integer_kernels LEVEL(integers) = {
	.scratch = LEVEL(integer_scratch),
	.product = LEVEL(integer_product),
	.pair_plane = LEVEL(integer_pair_plane),
	.pair_row = LEVEL(integer_pair_row),
	.pair_rows = LEVEL(integer_pair_rows),
	.put = LEVEL(integer_put),
	.quantize = LEVEL(integer_quantize),
	.dequantize = LEVEL(integer_dequantize),
	.binary = LEVEL(integer_binary),
	.table = LEVEL(integer_table),
	.range = LEVEL(integer_range),
};
