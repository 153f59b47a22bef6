/*
 * Products of integers. A tile of ROWS rows and one panel keeps its sums in registers
 * over all of k, and goes through a small buffer when it is finished: its elements are
 * scaled, rounded and stored by rows, also the last columns of the output.
 */
#include "runtime/engine/native/level/integers.h"

#include "runtime/engine/native/level/sums.h"
#include "runtime/engine/native/level/tiles.h"

enum kind { PAIRS, SIGNED_A, SIGNED_B }; /* or quads, and the signed operand */

/* sum + a0 b0 + a1 b1 of each lane */
INLINE ivec dot_pairs(ivec sum, ivec a, ivec b)
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

INLINE ivec dot(const enum kind kind, ivec sum, ivec a, ivec b)
{
#ifdef MSD_HAS_QUADS
	const __m512i unsigned_of = (__m512i)(kind == SIGNED_A ? b : a);
	const __m512i signed_of = (__m512i)(kind == SIGNED_A ? a : b);

	if (kind != PAIRS) {
		return (ivec)_mm512_dpbusd_epi32((__m512i)sum, unsigned_of, signed_of);
	}
#endif
	(void)kind;
	return dot_pairs(sum, a, b);
}

struct tile {
	enum kind kind;
	const unit_at *a;
	const unit_at *b;
	size_t k;
	const int32_t *start; /* a number per row, or per column */
	bool by_column;
	int32_t sums[ROWS * PANEL];
};

INLINE void start_tile(const struct tile *t, const bool by_column, const int rows,
		       const int vectors, ivec sums[ROWS][VECTORS])
{
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++) {
			sums[r][v] = by_column ? load_units(t->start + v * LANES)
					       : all_units(t->start[r]);
		}
	}
}

INLINE void run_tile(struct tile *t, const enum kind kind, const int rows,
		     const int vectors)
{
	ivec sums[ROWS][VECTORS];
	const unit_at *a = t->a;
	const unit_at *b = t->b;

	if (t->by_column) {
		start_tile(t, true, rows, vectors, sums);
	} else {
		start_tile(t, false, rows, vectors, sums);
	}
#pragma GCC unroll 2
	for (size_t k = 0; k < t->k; k++, a += ROWS, b += PANEL) {
		ivec bv[VECTORS];
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			bv[v] = load_units(b + v * LANES);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++) {
				sums[r][v] =
					dot(kind, sums[r][v], all_units(a[r]), bv[v]);
			}
		}
	}
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			store_units(t->sums + r * PANEL + v * LANES, sums[r][v]);
	}
}

INLINE void run_kind(struct tile *t, const int rows, const int vectors)
{
#ifdef MSD_HAS_QUADS
	if (t->kind == SIGNED_A) {
		run_tile(t, SIGNED_A, rows, vectors);
		return;
	}
	if (t->kind == SIGNED_B) {
		run_tile(t, SIGNED_B, rows, vectors);
		return;
	}
#endif
	run_tile(t, PAIRS, rows, vectors);
}

typedef void tile_fn(struct tile *t);

#define TILE(r, v)                                                                     \
	static void tile_##r##_##v(struct tile *t)                                     \
	{                                                                              \
		run_kind(t, r, v);                                                     \
	}
EACH_TILE

static tile_fn *const tiles[ROWS][VECTORS] = TILE_TABLE;

void LEVEL(integer_put)(const struct msd_native_sums *s, const float *sums, size_t row,
			size_t n, void *y)
{
	const struct msd_native_sums own = *s; /* bytes of y may not alias it */
	const int32_t start = own.start != NULL ? own.start[row] : 0;

	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i;
		const vec v =
			left < LANES ? load_some(sums + i, left, 0) : load(sums + i);

		put_vector(&own, __builtin_convertvector(v, ivec) + start, row, i, left,
			   y);
	}
}

static size_t element_of(const struct msd_native_sums *s)
{
	return s->scales != NULL && !s->is_float ? 1 : sizeof(float);
}

/* Full rows of bytes with numbers by row: those of most convolutions. Returns how many
 * were put. */
INLINE size_t put_rows(const struct msd_native_sums *s, const int32_t *sums,
		       size_t rows, size_t row, uint8_t *y, size_t y_row)
{
	const struct msd_native_rounding r = s->rounding;
	const bool is_whole = is_whole_type(r);
	const float *scales = s->scales + row;
	const float *offsets = s->offsets != NULL ? s->offsets + row : NULL;

	for (size_t i = 0; i < rows; i++, sums += PANEL, y += y_row) {
		const float scale = scales[i];
		const float offset = offsets != NULL ? offsets[i] : 0;

		if (!__builtin_isfinite(scale) || !__builtin_isfinite(offset))
			return i;
		if (is_whole && is_small(scale, offset)) {
			if (offsets == NULL) {
				pack_row(sums, scale, 0, false, r, y);
			} else {
				pack_row(sums, scale, offset, true, r, y);
			}
		} else {
			put_row(sums, scale, offset, r, y);
		}
	}
	return rows;
}

static const int32_t zeros[PANEL > ROWS ? PANEL : ROWS];

static void set_operands(const struct msd_native_integers *p, struct tile *t, size_t m,
			 size_t n)
{
	t->start = zeros;
	if (p->sums.start != NULL)
		t->start = p->sums.start + (p->sums.by_column ? n : m);
	t->a = (const unit_at *)(const void *)p->packed_a + m * p->k;
}

/* The sums of the tile at row @m and column @n become elements. */
static void put_tile(const struct msd_native_integers *p, const struct tile *t,
		     size_t m, size_t m1, size_t n, size_t n1)
{
	const struct msd_native_sums own = p->sums;
	const size_t columns = n1 - n < PANEL ? n1 - n : PANEL;
	const size_t rows = m1 - m < ROWS ? m1 - m : ROWS;
	const size_t size = element_of(&own);
	char *y = (char *)p->y + m * p->y_row * size;
	size_t r = 0;

	if (columns == PANEL && size == 1 && !own.by_column)
		r = put_rows(&own, t->sums, rows, m, (uint8_t *)y + n, p->y_row);
	for (y += r * p->y_row * size; r < rows; r++, y += p->y_row * size) {
		for (size_t c = 0; c < columns; c += LANES) {
			put_vector(&own, load_units(t->sums + r * PANEL + c), m + r,
				   n + c, columns - c, y);
		}
	}
}

/* The tile at row @m and column @n. */
static void run_one(const struct msd_native_integers *p, struct tile *t, size_t m,
		    size_t m1, size_t n, size_t n1)
{
	const size_t columns = n1 - n < PANEL ? n1 - n : PANEL;
	const size_t rows = m1 - m < ROWS ? m1 - m : ROWS;

	set_operands(p, t, m, n);
	/* The analyzer does not see that all are set. NOLINTNEXTLINE */
	tiles[rows - 1][(columns + LANES - 1) / LANES - 1](t);
	put_tile(p, t, m, m1, n, n1);
}

#ifdef MSD_HAS_QUADS
enum { FEW = 4, TALL = 4 }; /* columns, and tiles that hide each other's latency */

/* The last columns, if they are few: lanes are rows, since a vector of columns would be
 * empty for the most part. */
INLINE void multiply_few(const struct tile *t, const bool is_a_signed,
			 const int columns, int32_t sums[TALL][FEW][ROWS])
{
	const unit_at *a = t->a;
	const unit_at *b = t->b;
	__m256i own[TALL][FEW];

#pragma GCC unroll 4
	for (int i = 0; i < TALL; i++) {
#pragma GCC unroll 4
		for (int c = 0; c < columns; c++)
			own[i][c] = _mm256_setzero_si256();
	}
	for (size_t k = 0; k < t->k; k++, a += ROWS, b += PANEL) {
#pragma GCC unroll 4
		for (int i = 0; i < TALL; i++) {
			const __m256i av = _mm256_loadu_si256(
				(const void *)(a + (size_t)i * t->k * ROWS));

#pragma GCC unroll 4
			for (int c = 0; c < columns; c++) {
				const __m256i bv = _mm256_set1_epi32(b[c]);

				own[i][c] = _mm256_dpbusd_epi32(own[i][c],
								is_a_signed ? bv : av,
								is_a_signed ? av : bv);
			}
		}
	}
#pragma GCC unroll 4
	for (int i = 0; i < TALL; i++) {
#pragma GCC unroll 4
		for (int c = 0; c < columns; c++)
			_mm256_storeu_si256((void *)sums[i][c], own[i][c]);
	}
}

INLINE void few_of(const struct tile *t, const int columns,
		   int32_t sums[TALL][FEW][ROWS])
{
	if (t->kind == SIGNED_A) {
		multiply_few(t, true, columns, sums);
	} else {
		multiply_few(t, false, columns, sums);
	}
}

static void run_tall(const struct tile *t, size_t columns,
		     int32_t sums[TALL][FEW][ROWS])
{
	switch (columns) {
	case 1:
		few_of(t, 1, sums);
		break;
	case 2:
		few_of(t, 2, sums);
		break;
	case 3:
		few_of(t, 3, sums);
		break;
	default:
		few_of(t, FEW, sums);
		break;
	}
}

/* All rows of columns @n .. @n1 - 1, at most FEW. */
static void run_few(const struct msd_native_integers *p, struct tile *t, size_t m0,
		    size_t m1, size_t n, size_t n1)
{
	int32_t sums[TALL][FEW][ROWS];
	size_t m = m0;

	for (; m + (TALL - 1) * ROWS < m1; m += TALL * ROWS) {
		set_operands(p, t, m, n);
		run_tall(t, n1 - n, sums);
		for (size_t i = 0; i < TALL; i++) {
			const size_t row = m + i * ROWS;

			set_operands(p, t, row, n);
			for (size_t r = 0; r < ROWS && row + r < m1; r++) {
				for (size_t c = 0; c < n1 - n; c++) {
					t->sums[r * PANEL + c] =
						sums[i][c][r] +
						t->start[t->by_column ? c : r];
				}
			}
			put_tile(p, t, row, m1, n, n1);
		}
	}
	for (; m < m1; m += ROWS)
		run_one(p, t, m, m1, n, n1);
}
#endif

size_t LEVEL(integer_scratch)(size_t k)
{
	return k * PANEL + PANEL;
}

/* A panel is brought when its tiles are computed: it stays in the nearest cache. */
static void run_product(const struct msd_native_integers *p, enum kind kind, size_t m0,
			size_t m1, size_t n0, size_t n1, float *scratch)
{
	struct tile t;
	struct unit_taps taps;

	t.kind = kind;
	t.k = p->k;
	t.by_column = p->sums.by_column;
	if (p->packed_b == NULL)
		LEVEL(integer_fill_taps)(p->window, &taps);
	for (size_t n = n0; n < n1; n += PANEL) {
		const float *b = scratch;

		if (p->packed_b != NULL) {
			b = p->packed_b + n * p->k;
		} else {
			LEVEL(integer_bring)
			(p->window, p->k, &taps, n, n1 - n < PANEL ? n1 - n : PANEL,
			 scratch);
		}
		t.b = (const unit_at *)(const void *)b;
#ifdef MSD_HAS_QUADS
		if (kind != PAIRS && n1 - n <= FEW) {
			run_few(p, &t, m0, m1, n, n1);
			break;
		}
#endif
		for (size_t m = m0; m < m1; m += ROWS)
			run_one(p, &t, m, m1, n, n1);
	}
}

void LEVEL(integer_product)(const struct msd_native_integers *p, size_t m0, size_t m1,
			    size_t n0, size_t n1, float *scratch)
{
	run_product(p, PAIRS, m0, m1, n0, n1, scratch);
}

#ifdef MSD_HAS_QUADS
void LEVEL(integer_quad_product)(const struct msd_native_integers *p, size_t m0,
				 size_t m1, size_t n0, size_t n1, float *scratch)
{
	run_product(p, p->is_a_signed ? SIGNED_A : SIGNED_B, m0, m1, n0, n1, scratch);
}
#endif

const struct msd_native_integer_kernels LEVEL(integers) = {
	.pairs = &LEVEL(integer_pairs),
#ifdef MSD_HAS_QUADS
	.quads = &LEVEL(integer_quads),
	.depthwise_units = LEVEL(integer_depthwise_units),
	.depthwise_scratch = LEVEL(integer_depthwise_scratch),
	.depthwise = LEVEL(integer_depthwise),
#endif
	.scratch = LEVEL(integer_scratch),
	.put = LEVEL(integer_put),
	.quantize = LEVEL(integer_quantize),
	.dequantize = LEVEL(integer_dequantize),
	.binary = LEVEL(integer_binary),
	.table = LEVEL(integer_table),
	.range = LEVEL(integer_range),
};
