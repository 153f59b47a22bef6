/*
 * Depthwise convolutions of 3 x 3 on planes as they are, by vectors that load and store
 * some of their lanes: padding is what they leave out. With strides of 2, and if a row
 * is one vector, to copy a plane would take as long as to convolve it. Taps are added
 * in the order of planes.c.
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"

#if defined(__AVX512F__) && MSD_LANES == 16
enum { SIDE = 3, PIECES = 4 };

struct direct {
	const struct msd_native_window *w;
	const float *x;
	vec weights[SIDE * SIDE];
	float start;
	const float *residual; /* NULL: none */
	const struct msd_native_finish *finish;
	float *y;
};

/* Columns @c .. @c + LANES - 1 that are within 0 .. @n - 1. */
INLINE __mmask16 within(ptrdiff_t c, size_t n)
{
	const ptrdiff_t left = (ptrdiff_t)n - c;
	const __mmask16 first = msd_first(c < 0 ? (size_t)-c : 0);

	return (__mmask16)(left > 0 ? msd_first((size_t)left) & ~first : 0);
}

INLINE vec load_these(const float *p, __mmask16 lanes, const bool is_whole)
{
	return is_whole ? load(p) : (vec)_mm512_maskz_loadu_ps(lanes, p);
}

INLINE vec every_other(vec a, vec b, const int first)
{
	const __m512i from = _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20,
					       22, 24, 26, 28, 30);

	return (vec)_mm512_permutex2var_ps(
		(__m512)a, _mm512_add_epi32(from, _mm512_set1_epi32(first)), (__m512)b);
}

INLINE void put(const struct direct *d, vec sum, size_t at, size_t n)
{
	if (d->residual != NULL)
		sum += load_some(d->residual + at, n, 0);
	if (d->finish->is_bounded)
		sum = msd_bound(sum, d->finish);
	store_some(d->y + at, sum, n);
}

/* Outputs @i .. @i + LANES - 1 of row @y. @lanes: those of the pieces of a row, which
 * begin at columns 0 and 2, and a vector later. @is_inner: all rows exist. */
INLINE void run_unit(const struct direct *d, const __mmask16 *lanes, size_t y, size_t i,
		     const bool is_inner, const bool is_whole)
{
	const struct msd_native_window *w = d->w;
	const ptrdiff_t c = (ptrdiff_t)(2 * i) - (ptrdiff_t)w->before[W];
	const size_t n = w->out[W];
	vec sum = all(d->start);

#pragma GCC unroll 3
	for (size_t l = 0; l < SIDE; l++) {
		const size_t h = 2 * y + l - w->before[H];
		const bool exists = is_inner || h < w->in[H]; /* h may wrap */
		const float *row = d->x + (ptrdiff_t)((exists ? h : 0) * w->in[W]) + c;
		const __mmask16 some = exists ? 0xffff : 0;
		vec x[PIECES];

#pragma GCC unroll 4
		for (size_t p = 0; p < PIECES; p++) {
			x[p] = load_these(row + p / 2 * 2 + p % 2 * LANES,
					  lanes[p] & some, is_inner && is_whole);
		}
		const vec *weights = d->weights + l * SIDE;

		sum = msd_fused(weights[0], every_other(x[0], x[1], 0), sum);
		sum = msd_fused(weights[1], every_other(x[0], x[1], 1), sum);
		sum = msd_fused(weights[2], every_other(x[2], x[3], 0), sum);
	}
	put(d, sum, y * n + i, n - i);
}

/* @d is a copy, which outputs do not alias. */
INLINE void run_columns(const struct direct d, size_t i, const bool is_whole)
{
	const struct msd_native_window *w = d.w;
	const ptrdiff_t c = (ptrdiff_t)(2 * i) - (ptrdiff_t)w->before[W];
	__mmask16 lanes[PIECES];

	for (size_t p = 0; p < PIECES; p++) {
		lanes[p] = within(c + (ptrdiff_t)(p / 2 * 2 + p % 2 * LANES), w->in[W]);
	}
	for (size_t y = 0; y < w->out[H]; y++) {
		if (2 * y >= w->before[H] && 2 * y + SIDE <= w->in[H] + w->before[H]) {
			run_unit(&d, lanes, y, i, true, is_whole);
		} else {
			run_unit(&d, lanes, y, i, false, is_whole);
		}
	}
}

/* A row of one vector, or two. Each row of the input is read once for both. */
INLINE void run_narrow(const struct direct *d, const __mmask16 lanes[SIDE], size_t y,
		       const size_t rows, const bool is_inner)
{
	const struct msd_native_window *w = d->w;
	const size_t n = w->out[W];
	vec sums[2] = {all(d->start), all(d->start)};

#pragma GCC unroll 4
	for (size_t l = 0; l < SIDE + rows - 1; l++) {
		const size_t h = y + l - w->before[H];
		const bool exists = is_inner || h < w->in[H]; /* h may wrap */
		const float *row = d->x + (ptrdiff_t)((exists ? h : 0) * w->in[W]) -
				   (ptrdiff_t)w->before[W];
		const __mmask16 some = exists ? 0xffff : 0;

#pragma GCC unroll 3
		for (size_t k = 0; k < SIDE; k++) {
			const vec x = load_these(row + k, lanes[k] & some, false);

			if (l < SIDE) {
				sums[0] =
					msd_fused(d->weights[l * SIDE + k], x, sums[0]);
			}
			if (l > 0 && rows == 2) {
				sums[1] = msd_fused(d->weights[(l - 1) * SIDE + k], x,
						    sums[1]);
			}
		}
	}
	put(d, sums[0], y * n, n);
	if (rows == 2)
		put(d, sums[1], (y + 1) * n, n);
}

static void run_rows(const struct direct d)
{
	const struct msd_native_window *w = d.w;
	const size_t most = w->in[H] + w->before[H];
	__mmask16 lanes[SIDE];
	size_t y = 0;

	for (size_t k = 0; k < SIDE; k++)
		lanes[k] = within((ptrdiff_t)k - (ptrdiff_t)w->before[W], w->in[W]);
	for (; y + 2 <= w->out[H]; y += 2) {
		if (y >= w->before[H] && y + SIDE + 1 <= most) {
			run_narrow(&d, lanes, y, 2, true);
		} else {
			run_narrow(&d, lanes, y, 2, false);
		}
	}
	if (y < w->out[H])
		run_narrow(&d, lanes, y, 1, false);
}

static void run_halved(const struct direct *d)
{
	const struct msd_native_window *w = d->w;

	for (size_t i = 0; i < w->out[W]; i += LANES) {
		if (2 * i >= w->before[W] &&
		    2 * i + 2 * LANES + 2 <= w->in[W] + w->before[W]) {
			run_columns(*d, i, true);
		} else {
			run_columns(*d, i, false);
		}
	}
}

static bool suits(const struct msd_native_window *w)
{
	for (size_t i = 0; i < 3; i++) {
		if (w->kernel[i] != (i == D ? 1 : SIDE) || w->dilation[i] != 1 ||
		    w->stride[i] != (i == D ? 1 : w->stride[W]))
			return false;
	}
	return w->in[D] == 1 && w->out[D] == 1 && w->before[D] == 0 &&
	       (w->stride[W] == 2 || (w->stride[W] == 1 && w->out[W] <= LANES));
}
#endif

bool LEVEL(direct)(const struct msd_native_window *w, const float *x,
		   const float *weights, float start, const float *residual,
		   struct msd_native_finish finish, float *y)
{
#if defined(__AVX512F__) && MSD_LANES == 16
	struct direct d = {
		.w = w,
		.x = x,
		.start = start,
		.residual = residual,
		.finish = &finish,
		.y = y,
	};

	if (!suits(w))
		return false;
	for (size_t t = 0; t < (size_t)SIDE * SIDE; t++)
		d.weights[t] = all(weights[t]);
	if (w->stride[W] == 2) {
		run_halved(&d);
	} else {
		run_rows(d);
	}
	if (finish.has_function) {
		LEVEL(unary)
		(finish.function, y, w->out[H] * w->out[W], finish.a, finish.b, y);
	}
	return true;
#else
	(void)w;
	(void)x;
	(void)weights;
	(void)start;
	(void)residual;
	(void)finish;
	(void)y;
	return false;
#endif
}
