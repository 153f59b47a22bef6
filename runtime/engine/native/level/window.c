/*
 * Convolutions on padded planes. The columns of a padded row lie by their phase, so
 * that a stride becomes a distance of 1: each tap of neighbouring outputs is one
 * stretch of memory.
 */
#include "runtime/engine/native/level/level.h"

enum { D, H, W };

/* Copy the columns of one phase of a row; rows and columns that no window reads are
 * left out. */
static void pad_phase(const struct msd_native_window *w, const float *from,
		      size_t phase, float *to)
{
	const size_t step = w->stride[W];
	/* The first column, counted with the padding: phase, phase + step, ... */
	const size_t first = (w->before[W] + step - 1 - phase) / step;
	const size_t i = first * step + phase - w->before[W];
	size_t n = i < w->in[W] ? (w->in[W] - i + step - 1) / step : 0;

	if (first >= w->columns)
		return;
	n = n < w->columns - first ? n : w->columns - first;
	from += i;
	to += first;
	if (step == 1) {
		memcpy(to, from, n * sizeof(float));
	} else if (step == 2) {
		for (size_t q = 0; q < n; q++)
			to[q] = from[2 * q];
	} else {
		for (size_t q = 0; q < n; q++)
			to[q] = from[step * q];
	}
}

static void fill_plane(float *p, size_t n, float with)
{
	for (size_t i = 0; i < n; i++)
		p[i] = with;
}

/* Rows and phases that a kernel of one element leaves out are not copied. */
void LEVEL(pad_plane)(const struct msd_native_window *w, const float *x, float *ret)
{
	const size_t row = w->columns * w->stride[W];
	const size_t phases = w->kernel[W] == 1 ? 1 : w->stride[W];

	fill_plane(ret, w->plane, w->fill);
	for (size_t line = 0; line < w->in[D] * w->in[H]; line++, x += w->in[W]) {
		const size_t d = line / w->in[H] + w->before[D];
		const size_t h = line % w->in[H] + w->before[H];
		float *to = ret + (d * w->rows[1] + h) * row;

		if (d >= w->rows[0] || h >= w->rows[1] ||
		    (w->kernel[H] == 1 && h % w->stride[H] != 0))
			continue;
		for (size_t p = 0; p < phases; p++)
			pad_phase(w, x, p, to + p * w->columns);
	}
}

/* Offset of a tap in its padded plane. */
static size_t tap_at(const struct msd_native_window *w, size_t tap)
{
	const size_t kw = tap % w->kernel[W] * w->dilation[W];
	const size_t kh = tap / w->kernel[W] % w->kernel[H] * w->dilation[H];
	const size_t kd = tap / w->kernel[W] / w->kernel[H] * w->dilation[D];
	const size_t row = w->columns * w->stride[W];

	return (kd * w->rows[1] + kh) * row + kw % w->stride[W] * w->columns +
	       kw / w->stride[W];
}

/* Positions of one row of the output within a panel. */
struct run {
	size_t to, n, from;
};

static size_t find_runs(const struct msd_native_window *w, size_t n0, size_t n,
			struct run *ret)
{
	const size_t row = w->columns * w->stride[W];
	size_t count = 0;

	for (size_t i = 0; i < n; count++) {
		const size_t x = (n0 + i) % w->out[W];
		const size_t line = (n0 + i) / w->out[W];
		const size_t y = line % w->out[H] * w->stride[H];
		const size_t z = line / w->out[H] * w->stride[D];
		const size_t left = w->out[W] - x;

		ret[count] = (struct run){i, left < n - i ? left : n - i,
					  (z * w->rows[1] + y) * row + x};
		i += ret[count].n;
	}
	return count;
}

/* Vectors may read beyond a run: the planes end with room. They also write beyond it;
 * the next run overwrites these columns, or the caller clears them. */
static void bring_tap(const float *x, const struct run *runs, size_t n_runs, float *to)
{
	for (size_t i = 0; i < n_runs; i++) {
		const float *from = x + runs[i].from;
		float *at = to + runs[i].to;

		for (size_t c = 0; c < runs[i].n; c += LANES)
			store(at + c, load(from + c));
	}
}

static void bring_direct(const struct msd_native_product *p, size_t k0, size_t kc,
			 size_t n0, size_t n, float *ret)
{
	const float *x = p->window->x + k0 * p->window->plane + n0;

	for (size_t k = 0; k < kc; k++, x += p->window->plane, ret += PANEL) {
		if (n == PANEL) {
			for (size_t v = 0; v < PANEL; v += LANES)
				store(ret + v, load(x + v));
		} else {
			memset(ret, 0, PANEL * sizeof(float));
			memcpy(ret, x, n * sizeof(float));
		}
	}
}

/* Offsets of the taps; those beyond the table are computed again each time. */
struct taps {
	size_t n;
	size_t at[MSD_NATIVE_TAPS];
};

static size_t fill_taps(const struct msd_native_window *w, size_t *ret)
{
	const size_t n = w->kernel[D] * w->kernel[H] * w->kernel[W];

	for (size_t i = 0; i < n && i < MSD_NATIVE_TAPS; i++)
		ret[i] = tap_at(w, i);
	return n;
}

static void bring_taps(const struct msd_native_window *w, const struct taps *taps,
		       size_t k0, size_t kc, const struct run *runs, size_t n_runs,
		       float *to)
{
	const size_t n = runs[n_runs - 1].to + runs[n_runs - 1].n;
	const float *plane = w->x + k0 / taps->n * w->plane;
	size_t tap = k0 % taps->n;

	for (size_t k = 0; k < kc; k++, to += PANEL) {
		const size_t at =
			tap < MSD_NATIVE_TAPS ? taps->at[tap] : tap_at(w, tap);

		bring_tap(plane + at, runs, n_runs, to);
		for (size_t c = n; c < PANEL; c++)
			to[c] = 0;
		if (++tap == taps->n) {
			tap = 0;
			plane += w->plane;
		}
	}
}

void LEVEL(bring_window)(const struct msd_native_product *p, size_t k0, size_t kc,
			 size_t n0, size_t nc, float *ret)
{
	const struct msd_native_window *w = p->window;
	struct run runs[PANEL];
	struct taps taps;

	taps.n = w->is_direct ? 1 : fill_taps(w, taps.at);
	for (size_t j = 0; j < nc; j += PANEL) {
		const size_t n = nc - j < PANEL ? nc - j : PANEL;
		float *to = ret + j * kc;

		if (w->is_direct) {
			bring_direct(p, k0, kc, n0 + j, n, to);
		} else {
			const size_t n_runs = find_runs(w, n0 + j, n, runs);

			bring_taps(w, &taps, k0, kc, runs, n_runs, to);
		}
	}
}

/* One row of a depthwise convolution. Vectors may write up to @room: the next rows are
 * computed later. */
struct line {
	const float *x;
	const size_t *at; /* of the taps */
	const float *weights;
	float start;
	const float *residual; /* NULL: none */
	size_t n, room;
	float *y;
};

INLINE void put_line(const struct line *l, const struct msd_native_finish *finish,
		     size_t i, vec a, vec b)
{
	const size_t left = l->n - i;

	if (l->residual != NULL) {
		a += load_some(l->residual + i, left, 0);
		if (left > LANES) {
			b += load_some(l->residual + i + LANES, left - LANES, 0);
		}
	}
	if (finish->is_bounded) {
		a = msd_bound(a, finish);
		b = msd_bound(b, finish);
	}
	if (i + (size_t)2 * LANES <= l->room) {
		store(l->y + i, a);
		store(l->y + i + LANES, b);
	} else if (left >= LANES) {
		store(l->y + i, a);
		store_some(l->y + i + LANES, b, left - LANES);
	} else {
		store_some(l->y + i, a, left);
	}
}

INLINE void run_line(const struct line *l, const size_t taps,
		     const struct msd_native_finish *finish)
{
	for (size_t i = 0; i < l->n; i += (size_t)2 * LANES) {
		vec a = all(l->start);
		vec b = a;

#pragma GCC unroll 9
		for (size_t t = 0; t < taps; t++) {
			const vec weight = all(l->weights[t]);

			a += weight * load(l->x + l->at[t] + i);
			b += weight * load(l->x + l->at[t] + i + LANES);
		}
		put_line(l, finish, i, a, b);
	}
}

/* @x is one padded plane with room for two vectors behind it. */
void LEVEL(depthwise)(const struct msd_native_window *w, const float *x,
		      const float *weights, float start, const float *residual,
		      struct msd_native_finish finish, float *y)
{
	const size_t row = w->columns * w->stride[W];
	const size_t lines = w->out[D] * w->out[H];
	size_t at[MSD_NATIVE_TAPS] = {0};
	const size_t taps = fill_taps(w, at);

	for (size_t i = 0; i < lines; i++) {
		const size_t h = i % w->out[H] * w->stride[H];
		const size_t d = i / w->out[H] * w->stride[D];
		const struct line l = {
			.x = x + (d * w->rows[1] + h) * row,
			.at = at,
			.weights = weights,
			.start = start,
			.residual = residual != NULL ? residual + i * w->out[W] : NULL,
			.n = w->out[W],
			.room = (lines - i) * w->out[W],
			.y = y + i * w->out[W],
		};

		if (taps == 9) {
			run_line(&l, 9, &finish);
		} else {
			run_line(&l, taps, &finish);
		}
	}
	if (finish.has_function) {
		LEVEL(unary)
		(finish.function, y, lines * w->out[W], finish.a, finish.b, y);
	}
}

INLINE void pool_row(const float *x, const size_t *at, size_t taps, const float *counts,
		     size_t n, float *y)
{
	for (size_t i = 0; i < n; i += LANES) {
		const size_t left = n - i < LANES ? n - i : LANES;
		vec v = load(x + at[0] + i);

		/* Elements that are not numbers lose, as in the reference engine. */
		if (counts == NULL)
			v = most(all(-__FLT_MAX__), v);
		for (size_t t = 1; t < taps; t++) {
			const vec next = load(x + at[t] + i);

			v = counts != NULL ? v + next : most(v, next);
		}
		if (counts != NULL)
			v = v / load_some(counts + i, left, 1);
		store_some(y + i, v, left);
	}
}

void LEVEL(pool)(const struct msd_native_window *w, const float *x, const float *counts,
		 float *y)
{
	const size_t row = w->columns * w->stride[W];
	size_t at[MSD_NATIVE_TAPS] = {0};
	const size_t taps = fill_taps(w, at);

	for (size_t line = 0; line < w->out[D] * w->out[H]; line++) {
		const size_t h = line % w->out[H] * w->stride[H];
		const size_t d = line / w->out[H] * w->stride[D];
		const float *from = x + (d * w->rows[1] + h) * row;
		const size_t to = line * w->out[W];

		if (counts != NULL) {
			pool_row(from, at, taps, counts + to, w->out[W], y + to);
		} else {
			pool_row(from, at, taps, NULL, w->out[W], y + to);
		}
	}
}
