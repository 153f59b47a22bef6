/*
 * Padded planes, and panels of a product with the elements of windows. The rows and
 * columns of a padded plane lie by their phase (taps.h).
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"

typedef float quad __attribute__((vector_size(16)));
typedef float quad_at __attribute__((vector_size(16), aligned(4), may_alias));

enum { QUAD = 4 };

INLINE quad load_quad(const float *p)
{
	return *(const quad_at *)p;
}

INLINE void store_quad(float *p, quad v)
{
	*(quad_at *)p = v;
}

/* Fewer than LANES. The last quad overlaps the one before. */
INLINE void copy_few(const float *from, size_t n, float *to)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	store_some(to, load_some(from, n, 0), n);
#else
	if (n >= QUAD) {
		for (size_t i = 0; i + QUAD < n; i += QUAD)
			store_quad(to + i, load_quad(from + i));
		store_quad(to + n - QUAD, load_quad(from + n - QUAD));
	} else {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
	}
#endif
}

/* The last vector overlaps the one before. */
static void copy_row(const float *from, size_t n, float *to)
{
	if (n < LANES) {
		copy_few(from, n, to);
		return;
	}
	for (size_t i = 0; i + LANES < n; i += LANES)
		store(to + i, load(from + i));
	store(to + n - LANES, load(from + n - LANES));
}

/* QUAD elements 0, 2, ... to @even, and 1, 3, ... to @odd. */
INLINE void part_quad(const float *from, float *even, float *odd)
{
	const quad a = load_quad(from);
	const quad b = load_quad(from + QUAD);

	store_quad(even, (quad){a[0], a[2], b[0], b[2]});
	store_quad(odd, (quad){a[1], a[3], b[1], b[3]});
}

#if defined(__AVX512F__) && MSD_LANES == 16
INLINE void part(vec a, vec b, vec *even, vec *odd)
{
	const __m512i first = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
						22, 24, 26, 28, 30);
	const __m512i second = _mm512_add_epi32(first, _mm512_set1_epi32(1));

	*even = (vec)_mm512_permutex2var_ps((__m512)a, first, (__m512)b);
	*odd = (vec)_mm512_permutex2var_ps((__m512)a, second, (__m512)b);
}
#endif

/* The same of LANES elements each. */
INLINE void part_vector(const float *from, float *even, float *odd)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	vec first, second;

	part(load(from), load(from + LANES), &first, &second);
	store(even, first);
	store(odd, second);
#elif defined(__AVX2__) && MSD_LANES == 8
	const __m256 a = (__m256)load(from);
	const __m256 b = (__m256)load(from + LANES);
	/* Halves of the vectors stay halves. */
	const __m256d low = (__m256d)_mm256_shuffle_ps(a, b, 0x88);
	const __m256d high = (__m256d)_mm256_shuffle_ps(a, b, 0xdd);

	store(even, (vec)_mm256_permute4x64_pd(low, 0xd8));
	store(odd, (vec)_mm256_permute4x64_pd(high, 0xd8));
#else
	for (int i = 0; i < LANES; i += QUAD)
		part_quad(from + (ptrdiff_t)2 * i, even + i, odd + i);
#endif
}

/* The same of @n elements each, fewer than LANES. The last vectors overlap the ones
 * before. */
INLINE void part_some(const float *from, size_t n, float *even, float *odd)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	const size_t more = 2 * n > LANES ? 2 * n - LANES : 0;
	vec first, second;

	part(load_some(from, 2 * n, 0), load_some(from + LANES, more, 0), &first,
	     &second);
	store_some(even, first, n);
	store_some(odd, second, n);
#else
	if (n >= QUAD) {
		const size_t last = n - QUAD;

		for (size_t i = 0; i < last; i += QUAD)
			part_quad(from + 2 * i, even + i, odd + i);
		part_quad(from + 2 * last, even + last, odd + last);
		return;
	}
	for (size_t i = 0; i < n; i++) {
		even[i] = from[2 * i];
		odd[i] = from[2 * i + 1];
	}
#endif
}

/* @n elements each. */
static void part_row(const float *from, size_t n, float *even, float *odd)
{
	if (n < LANES) {
		part_some(from, n, even, odd);
		return;
	}
	for (size_t i = 0; i + LANES < n; i += LANES)
		part_vector(from + 2 * i, even + i, odd + i);
	part_vector(from + 2 * (n - LANES), even + n - LANES, odd + n - LANES);
}

/* The columns of one phase of a row that lie within the input. */
struct phase {
	size_t from, n, to;
};

static struct phase phase_at(const struct msd_native_window *w, size_t phase)
{
	const size_t step = w->stride[W];
	/* The first column, counted with the padding: phase, phase + step, ... */
	const size_t to = (w->before[W] + step - 1 - phase) / step;
	const size_t from = to * step + phase - w->before[W];
	const size_t n = from < w->in[W] ? (w->in[W] - from + step - 1) / step : 0;
	const size_t room = to < w->columns ? w->columns - to : 0;

	return (struct phase){from, n < room ? n : room,
			      to + phase * w->lines * w->columns};
}

/* Elements 0, 2, ..., of which @n exist; the last one has none behind it. */
static void copy_even(const float *from, size_t n, float *to)
{
	float odd[LANES];
	size_t i = 0;

	for (; i + LANES < n; i += LANES)
		part_vector(from + 2 * i, to + i, odd);
	for (; i + QUAD < n; i += QUAD)
		part_quad(from + 2 * i, to + i, odd);
	for (; i < n; i++)
		to[i] = from[2 * i];
}

static void copy_phase(const struct phase *p, size_t first, size_t step, const float *x,
		       float *ret)
{
	const float *from = x + p->from;
	float *to = ret + p->to;

	if (step == 1) {
		copy_row(from, p->n, to);
	} else if (step == 2 && first == 0) {
		copy_even(from, p->n, to);
	} else {
		for (size_t i = first; i < p->n; i++)
			to[i] = from[step * i];
	}
}

/* The phases of a stride of 2; @a begins at the column before that of @b. */
static void copy_two(const struct phase *a, const struct phase *b, const float *x,
		     float *ret)
{
	const size_t n = a->n < b->n ? a->n : b->n;

	part_row(x + a->from, n, ret + a->to, ret + b->to);
	copy_phase(a, n, 2, x, ret);
	copy_phase(b, n, 2, x, ret);
}

INLINE void fill_few(float *p, size_t n, float with)
{
#pragma GCC unroll 1
	for (size_t i = 0; i < n; i++)
		p[i] = with;
}

static void fill_plane(float *p, size_t n, float with)
{
	for (size_t i = 0; i < n; i++)
		p[i] = with;
}

/* Without strides. */
static void copy_plain(const struct msd_native_window *w, const float *x, float *ret)
{
	const struct phase p = phase_at(w, 0);
	const size_t most = w->rows[1] > w->before[H] ? w->rows[1] - w->before[H] : 0;
	const size_t rows = w->in[H] < most ? w->in[H] : most;
	const size_t row = w->in[W];
	const size_t columns = w->columns;

	x += p.from;
	ret += w->before[H] * columns + p.to;
	for (size_t h = 0; h < rows; h++)
		copy_row(x + h * row, p.n, ret + h * columns);
}

/* The columns of all phases, of which @two are the first ones; a kernel of one element
 * reads one phase. */
static void copy_phases(const struct msd_native_window *w,
			const struct phase two[static 2], const float *x, float *ret)
{
	if (w->kernel[W] == 1) {
		copy_phase(two, 0, w->stride[W], x, ret);
	} else if (w->stride[W] == 2) {
		const size_t first = two[0].from < two[1].from ? 0 : 1;

		copy_two(two + first, two + 1 - first, x, ret);
	} else {
		for (size_t p = 0; p < w->stride[W]; p++) {
			const struct phase one = phase_at(w, p);

			copy_phase(&one, 0, w->stride[W], x, ret);
		}
	}
}

/* Rows that a kernel of one element leaves out are not copied. */
static void copy_rows(const struct msd_native_window *w, const float *x, float *ret)
{
	const size_t size = w->lines * w->columns;
	const struct phase two[2] = {phase_at(w, 0),
				     phase_at(w, w->stride[W] > 1 ? 1 : 0)};
	size_t of = w->before[H] % w->stride[H];
	size_t line = w->before[H] / w->stride[H];

	for (size_t h = 0; h < w->in[H] && h + w->before[H] < w->rows[1]; h++) {
		if (of == 0 || w->kernel[H] != 1) {
			copy_phases(w, two, x,
				    ret + of * msd_phases(w, W) * size +
					    line * w->columns);
		}
		x += w->in[W];
		of++;
		if (of == w->stride[H]) {
			of = 0;
			line++;
		}
	}
}

/* A plane of one phase: lines @first .. @first + @n - 1 have elements of the input, at
 * the columns of @p. The end of a line and the begin of the next one are neighbours. */
static void fill_around(const struct msd_native_window *w, size_t first, size_t n,
			const struct phase *p, size_t column, float *ret)
{
	const size_t size = w->lines * w->columns;
	size_t at = first * w->columns + column;

	if (n == 0 || p->n == 0) {
		fill_plane(ret, size, w->fill);
		return;
	}
	fill_plane(ret, at, w->fill);
	for (size_t i = 1; i < n; i++) {
		fill_few(ret + at + p->n, w->columns - p->n, w->fill);
		at += w->columns;
	}
	at += p->n;
	fill_plane(ret + at, size - at, w->fill);
}

/* All of one depth that copies leave out. */
static void fill_slice(const struct msd_native_window *w, float *ret)
{
	const size_t size = w->lines * w->columns;
	const size_t step = w->stride[H];
	const size_t most = w->before[H] + w->in[H];
	const size_t end = most < w->rows[1] ? most : w->rows[1];

	for (size_t h = 0; h < msd_phases(w, H); h++) {
		/* The first row of the input that has this phase, with the padding. */
		const size_t first = (w->before[H] + step - 1 - h) / step * step + h;
		const size_t n = first < end ? (end - first + step - 1) / step : 0;

		for (size_t c = 0; c < msd_phases(w, W); c++) {
			const struct phase p = phase_at(w, c);

			fill_around(w, first / step, n, &p, p.to - c * size, ret);
			ret += size;
		}
	}
}

void LEVEL(pad_plane)(const struct msd_native_window *w, const float *x, bool is_padded,
		      float *ret)
{
	const size_t size = msd_slice(w);

	for (size_t d = 0; !is_padded && d < w->rows[0]; d++) {
		if (d < w->before[D] || d >= w->before[D] + w->in[D]) {
			fill_plane(ret + d * size, size, w->fill);
		} else {
			fill_slice(w, ret + d * size);
		}
	}
	for (size_t d = 0; d < w->in[D] && d + w->before[D] < w->rows[0]; d++) {
		const float *from = x + d * w->in[H] * w->in[W];
		float *to = ret + (d + w->before[D]) * size;

		if (w->stride[H] == 1 && w->stride[W] == 1) {
			copy_plain(w, from, to);
		} else {
			copy_rows(w, from, to);
		}
	}
}

/* Vectors of a panel: neighbours of the output in one row. A vector may read and write
 * beyond a row: the planes end with room, and the next vector overwrites these columns,
 * or the caller clears them. Only rows of a panel before its last one may end so. */
struct move {
	size_t to, from;
};

static size_t find_moves(const struct msd_native_window *w, size_t n0, size_t n,
			 struct move ret[static PANEL])
{
	size_t count = 0;
	size_t x = n0 % w->out[W];
	size_t y = n0 / w->out[W] % w->out[H];
	size_t z = n0 / w->out[W] / w->out[H];

	for (size_t i = 0; i < n;) {
		const size_t row = w->out[W] - x < n - i ? w->out[W] - x : n - i;
		const size_t from =
			z * w->stride[D] * msd_slice(w) + y * w->columns + x;

		for (size_t c = 0; c < row; c += LANES)
			ret[count++] = (struct move){i + c, from + c};
		i += row;
		x = 0;
		if (++y == w->out[H]) {
			y = 0;
			z++;
		}
	}
	return count;
}

enum { MOVES = 4 };

/* Rows @k0 .. @k0 + @kc - 1 of a panel, by at most MOVES moves: copies of them stay in
 * registers. Taps beyond the table are computed again each time. */
INLINE void bring_moves(const struct msd_native_window *w, size_t k0, size_t kc,
			const struct move *moves, const size_t n_moves, float *to)
{
	const size_t n_taps = w->n_taps;
	const size_t size = w->plane;
	const float *plane = w->x + k0 / n_taps * size;
	size_t tap = k0 % n_taps;
	struct move own[MOVES];

#pragma GCC unroll 4
	for (size_t i = 0; i < n_moves; i++)
		own[i] = moves[i];
	for (size_t k = 0; k < kc; k++, to += PANEL) {
		const float *x = plane + (tap < MSD_NATIVE_TAPS ? w->taps[tap]
								: msd_tap_at(w, tap));

#pragma GCC unroll 4
		for (size_t i = 0; i < n_moves; i++)
			store(to + own[i].to, load(x + own[i].from));
		if (++tap == n_taps) {
			tap = 0;
			plane += size;
		}
	}
}

static void bring_many(const struct msd_native_window *w, size_t k0, size_t kc,
		       const struct move *moves, size_t n_moves, float *to)
{
	for (size_t k = k0; k < k0 + kc; k++, to += PANEL) {
		const size_t tap = k % w->n_taps;
		const float *x =
			w->x + k / w->n_taps * w->plane +
			(tap < MSD_NATIVE_TAPS ? w->taps[tap] : msd_tap_at(w, tap));

		for (size_t i = 0; i < n_moves; i++)
			store(to + moves[i].to, load(x + moves[i].from));
	}
}

static void bring_rows(const struct msd_native_window *w, size_t k0, size_t kc,
		       const struct move *moves, size_t n_moves, float *to)
{
	switch (n_moves) {
	case 1:
		bring_moves(w, k0, kc, moves, 1, to);
		break;
	case 2:
		bring_moves(w, k0, kc, moves, 2, to);
		break;
	case 3:
		bring_moves(w, k0, kc, moves, 3, to);
		break;
	case 4:
		bring_moves(w, k0, kc, moves, 4, to);
		break;
	default:
		bring_many(w, k0, kc, moves, n_moves, to);
		break;
	}
}

/* The last row goes through a buffer: its vectors would write behind the panel, which
 * another thread may fill. */
static void bring_taps(const struct msd_native_window *w, size_t k0, size_t kc,
		       const struct move *moves, size_t n_moves, float *to)
{
	float last[PANEL + LANES];

	bring_rows(w, k0, kc - 1, moves, n_moves, to);
	bring_rows(w, k0 + kc - 1, 1, moves, n_moves, last);
	for (size_t v = 0; v < PANEL; v += LANES)
		store(to + (kc - 1) * PANEL + v, load(last + v));
}

void LEVEL(bring_window)(const struct msd_native_product *p, size_t k0, size_t kc,
			 size_t n0, size_t nc, float *ret)
{
	const struct msd_native_window *w = p->window;
	struct move moves[PANEL];

	for (size_t j = 0; kc > 0 && j < nc; j += PANEL) {
		const size_t n = nc - j < PANEL ? nc - j : PANEL;
		float *to = ret + j * kc;

		bring_taps(w, k0, kc, moves, find_moves(w, n0 + j, n, moves), to);
		for (size_t k = 0; n < PANEL && k < kc; k++) {
			for (size_t c = n; c < PANEL; c++)
				to[k * PANEL + c] = 0;
		}
	}
}
