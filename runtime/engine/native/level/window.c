/*
 * Padded planes, and panels of a product with the elements of windows. The rows and
 * columns of a padded plane lie by their phase (taps.h).
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"

/* The last vector overlaps the one before. */
static void copy_row(const float *from, size_t n, float *to)
{
	if (n < LANES) {
		for (size_t i = 0; i < n; i++)
			to[i] = from[i];
		return;
	}
	for (size_t i = 0; i + LANES < n; i += LANES)
		store(to + i, load(from + i));
	store(to + n - LANES, load(from + n - LANES));
}

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
		copy_row(from, n, to);
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
static void pad_rows(const struct msd_native_window *w, const float *x, float *ret)
{
	const size_t phase = w->lines * w->columns;
	const size_t phases = w->kernel[W] == 1 ? 1 : w->stride[W];
	size_t of = w->before[H] % w->stride[H];
	size_t line = w->before[H] / w->stride[H];

	for (size_t h = 0; h < w->in[H] && h + w->before[H] < w->rows[1]; h++) {
		float *to = ret + of * w->stride[W] * phase + line * w->columns;

		for (size_t p = 0; p < phases && (of == 0 || w->kernel[H] != 1); p++)
			pad_phase(w, x, p, to + p * phase);
		x += w->in[W];
		of++;
		if (of == w->stride[H]) {
			of = 0;
			line++;
		}
	}
}

void LEVEL(pad_plane)(const struct msd_native_window *w, const float *x, float *ret)
{
	fill_plane(ret, w->plane, w->fill);
	for (size_t d = 0; d < w->in[D] && d + w->before[D] < w->rows[0]; d++) {
		pad_rows(w, x + d * w->in[H] * w->in[W],
			 ret + (d + w->before[D]) * msd_slice(w));
	}
}

/* Positions of one row of the output within a panel. */
struct run {
	size_t to, n, from;
};

static size_t find_runs(const struct msd_native_window *w, size_t n0, size_t n,
			struct run *ret)
{
	size_t count = 0;

	for (size_t i = 0; i < n; count++) {
		const size_t x = (n0 + i) % w->out[W];
		const size_t line = (n0 + i) / w->out[W];
		const size_t y = line % w->out[H];
		const size_t z = line / w->out[H] * w->stride[D];
		const size_t left = w->out[W] - x;

		ret[count] = (struct run){i, left < n - i ? left : n - i,
					  z * msd_slice(w) + y * w->columns + x};
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

/* Taps beyond the table are computed again each time. */
static void bring_taps(const struct msd_native_window *w, size_t k0, size_t kc,
		       const struct run *runs, size_t n_runs, float *to)
{
	const size_t n = runs[n_runs - 1].to + runs[n_runs - 1].n;
	const float *plane = w->x + k0 / w->n_taps * w->plane;
	size_t tap = k0 % w->n_taps;

	for (size_t k = 0; k < kc; k++, to += PANEL) {
		const size_t at =
			tap < MSD_NATIVE_TAPS ? w->taps[tap] : msd_tap_at(w, tap);

		bring_tap(plane + at, runs, n_runs, to);
		for (size_t c = n; c < PANEL; c++)
			to[c] = 0;
		if (++tap == w->n_taps) {
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

	for (size_t j = 0; j < nc; j += PANEL) {
		const size_t n = nc - j < PANEL ? nc - j : PANEL;
		float *to = ret + j * kc;

		if (w->is_direct) {
			bring_direct(p, k0, kc, n0 + j, n, to);
		} else {
			const size_t n_runs = find_runs(w, n0 + j, n, runs);

			bring_taps(w, k0, kc, runs, n_runs, to);
		}
	}
}
