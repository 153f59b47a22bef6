/*
 * Bytes become units for products: pairs of 16-bit integers or quads of bytes. The last
 * lanes of a row are masked where the level can do it; else they overlap the ones
 * before, or are computed one by one. No vector reads or writes beyond a row.
 */
#include "runtime/engine/native/level/integers.h"

enum { D, H, W, PAIR = 2, QUAD = 4 };

/* The rows of a unit. One that is missing is the first one: its weights are 0. */
struct source {
	const uint8_t *x[QUAD];
	uint8_t flip;
	int32_t zero; /* of pairs: a quad keeps its zero point */
};

static struct source source_of(const struct msd_native_bytes *x, size_t row, size_t n)
{
	struct source s = {{NULL}, x->flip, x->zero};

	for (size_t i = 0; i < QUAD; i++)
		s.x[i] = x->p + (i < n ? i : 0) * row;
	return s;
}

/* Bytes @i * step and on; only @n of them exist. */
INLINE ivec load_steps(const uint8_t *x, const size_t step, size_t i, size_t n)
{
	if (step == 1)
		return load_some_bytes(x + i, n);
#ifdef MSD_HAS_MASKS
	const __mmask32 mask = UINT32_MAX >> (2 * (LANES - n) + 1);
	const __m256i v = _mm256_maskz_loadu_epi8(mask, x + 2 * i);

	return (ivec)_mm512_cvtepu8_epi32(_mm256_cvtepi16_epi8(v));
#else
	typedef svec shorts_at __attribute__((aligned(1), may_alias));

	return __builtin_convertvector(*(const shorts_at *)(x + 2 * i) & 0xff, ivec);
#endif
}

INLINE ivec units_at(const struct source *s, const int width, const size_t step,
		     size_t i, size_t n)
{
	const struct msd_native_bytes x = {NULL, s->flip, s->zero, 1};
	ivec v = load_steps(s->x[0], step, i, n);

	if (width == PAIR) {
		return pair(values_of(v, x),
			    values_of(load_steps(s->x[1], step, i, n), x));
	}
#pragma GCC unroll 3
	for (int r = 1; r < QUAD; r++) {
		v |= (ivec)((uvec)load_steps(s->x[r], step, i, n) << 8 * r);
	}
	return v ^ (int32_t)(s->flip * 0x01010101u);
}

INLINE int32_t one_unit(const struct source *s, const int width, size_t i)
{
	uint32_t v = 0;

	for (int r = 0; r < width; r++) {
		const int32_t one = (s->x[r][i] ^ s->flip);

		if (width == PAIR) {
			v |= ((uint32_t)(one - s->zero) & 0xffff) << 16 * r;
		} else {
			v |= (uint32_t)one << 8 * r;
		}
	}
	return (int32_t)v;
}

/* The columns of one phase of a row, from @step bytes to the next. The last vector of
 * two steps would read a byte too much. */
INLINE void fill_phase(const struct source *of, const int width, const size_t step,
		       size_t n, unit_at *to)
{
	const struct source s = *of;
	size_t i = 0;

	for (; step <= 2 && i + LANES + step <= n + 1; i += LANES)
		store_units(to + i, units_at(&s, width, step, i, LANES));
#ifdef MSD_HAS_MASKS
	if (step <= 2 && i < n) {
		store_some_units(to + i, units_at(&s, width, step, i, n - i), n - i);
		return;
	}
#endif
	if (step == 1 && i < n && n >= LANES) {
		i = n - LANES;
		store_units(to + i, units_at(&s, width, step, i, LANES));
		return;
	}
	for (; i < n; i++)
		to[i] = one_unit(&s, width, i * step);
}

/* The columns of a phase that a row of the input has, @n from unit @first and byte
 * @from on. Columns that no window reads are left out, as in pad_plane(). */
struct phase {
	size_t first, from, n;
};

static struct phase phase_of(const struct msd_native_window *w, size_t phase)
{
	const size_t step = w->stride[W];
	const size_t first = (w->before[W] + step - 1 - phase) / step;
	const size_t from = first * step + phase - w->before[W];
	const size_t n = from < w->in[W] ? (w->in[W] - from + step - 1) / step : 0;
	const size_t room = first < w->columns ? w->columns - first : 0;

	return (struct phase){first, from, n < room ? n : room};
}

/* The rows of one depth; the first one of the output is at @to. */
INLINE void fill_rows(const struct msd_native_window *w, const struct source *slice,
		      const int width, const size_t step, const struct phase p,
		      unit_at *to)
{
	const size_t row = w->columns * w->stride[W];
	struct source s = *slice;

	for (size_t r = 0; r < QUAD; r++)
		s.x[r] += p.from;
	to += w->before[H] * row + p.first;
	for (size_t h = w->before[H]; h < w->in[H] + w->before[H] && h < w->rows[1];
	     h++, to += row) {
		if (w->kernel[H] != 1 || h % w->stride[H] == 0)
			fill_phase(&s, width, step, p.n, to);
		for (size_t r = 0; r < QUAD; r++)
			s.x[r] += w->in[W];
	}
}

INLINE void fill_slice(const struct msd_native_window *w, const struct source *slice,
		       const int width, const struct phase p, unit_at *to)
{
	const size_t step = w->stride[W];

	if (step == 1) {
		fill_rows(w, slice, width, 1, p, to);
	} else if (step == 2) {
		fill_rows(w, slice, width, 2, p, to);
	} else {
		fill_rows(w, slice, width, step, p, to);
	}
}

INLINE void fill_plane(const struct msd_native_window *w, const struct source *planes,
		       const int width, unit_at *ret)
{
	const size_t phases = w->kernel[W] == 1 ? 1 : w->stride[W];
	const size_t size = w->rows[1] * w->columns * w->stride[W];
	struct source slice = *planes;

	if (w->is_direct) {
		fill_phase(planes, width, 1, w->plane, ret);
		return;
	}
	memset(ret, width == QUAD ? planes->zero : 0, w->plane * sizeof(*ret));
	for (size_t d = w->before[D]; d < w->in[D] + w->before[D] && d < w->rows[0];
	     d++) {
		for (size_t i = 0; i < phases; i++) {
			const struct phase p = phase_of(w, i);

			if (p.n > 0) {
				fill_slice(w, &slice, width, p,
					   ret + d * size + i * w->columns);
			}
		}
		for (size_t r = 0; r < QUAD; r++)
			slice.x[r] += w->in[H] * w->in[W];
	}
}

static void pair_plane(const struct msd_native_window *w,
		       const struct msd_native_bytes *x, size_t n, float *ret)
{
	const struct source s = source_of(x, w->in[D] * w->in[H] * w->in[W], n);

	fill_plane(w, &s, PAIR, (unit_at *)(void *)ret);
}

/* The halves of a unit are two int16 in memory, the first one low. */
static void pair_row(const struct msd_native_bytes *x, size_t n, float *ret)
{
	const int16_t zero = (int16_t)x->zero;
	int16_t_at *to = (int16_t_at *)(void *)ret;
	size_t i = 0;

	for (; i + LANES <= n; i += LANES) {
		const svec v = load_shorts(x->p + i) ^ (int16_t)x->flip;

		*(svec_at *)(to + i) = v - zero;
	}
	for (; i < n; i++)
		to[i] = (int16_t)((x->p[i] ^ x->flip) - zero);
	if (n % 2 != 0)
		to[n] = 0;
}

/* Element @i of row @r without its zero point; 0 if that row is missing. */
static uint32_t value_in(const struct msd_native_bytes *x, size_t row, size_t n_rows,
			 size_t r, const int32_t *zeros, size_t i)
{
	if (r >= n_rows)
		return 0;
	return (uint32_t)((x->p[r * row + i] ^ x->flip) -
			  (zeros != NULL ? zeros[i] : x->zero));
}

static void pair_rows(const struct msd_native_bytes *x, size_t n_rows, size_t row,
		      const int32_t *zeros, size_t n, float *ret)
{
	unit_at *to = (unit_at *)(void *)ret;
	const struct source s = source_of(x, row, n_rows);

	if (zeros == NULL && n_rows == PAIR) {
		fill_phase(&s, PAIR, 1, n, to);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		to[i] = (int32_t)((value_in(x, row, n_rows, 0, zeros, i) & 0xffff) |
				  value_in(x, row, n_rows, 1, zeros, i) << 16);
	}
}

const struct msd_native_units LEVEL(integer_pairs) = {
	PAIR, pair_plane, pair_row, pair_rows, LEVEL(integer_product)};

#ifdef MSD_HAS_QUADS
static void quad_plane(const struct msd_native_window *w,
		       const struct msd_native_bytes *x, size_t n, float *ret)
{
	const struct source s = source_of(x, w->in[D] * w->in[H] * w->in[W], n);

	fill_plane(w, &s, QUAD, (unit_at *)(void *)ret);
}

static void quad_row(const struct msd_native_bytes *x, size_t n, float *ret)
{
	uint8_t *to = (uint8_t *)ret;
	const struct msd_native_bytes own = *x;

	for (size_t i = 0; i < n; i += LANES) {
		const ivec v = values_of(load_some_bytes(own.p + i, n - i), own);

		store_some_bytes(to + i, v, n - i);
	}
	for (size_t i = n; i % QUAD != 0; i++)
		to[i] = 0;
}

static void quad_rows(const struct msd_native_bytes *x, size_t n_rows, size_t row,
		      const int32_t *zeros, size_t n, float *ret)
{
	unit_at *to = (unit_at *)(void *)ret;

	for (size_t i = 0; i < n; i++) {
		uint32_t v = 0;

		for (size_t r = 0; r < QUAD; r++) {
			v |= (value_in(x, row, n_rows, r, zeros, i) & 0xff) << 8 * r;
		}
		to[i] = (int32_t)v;
	}
}

const struct msd_native_units LEVEL(integer_quads) = {
	QUAD, quad_plane, quad_row, quad_rows, LEVEL(integer_quad_product)};
#endif
