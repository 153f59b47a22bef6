/*
 * Convolutions that read the windows where they lie in padded planes. If there are few
 * channels of output, to bring windows into panels takes as long as to multiply them.
 * A strip is VECTORS vectors of outputs, each within a line of the output; sums of its
 * tile stay in registers over all of k, in the order of product.c.
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"
#include "runtime/engine/native/level/tiles.h"

struct strip {
	const struct msd_native_product *p;
	const float *x[VECTORS]; /* the first elements of the windows */
	size_t to[VECTORS];      /* in a row of y */
	const float *a;
	size_t m;
};

INLINE void multiply(const struct strip *s, const int rows, const int vectors,
		     vec sums[ROWS][VECTORS])
{
	const struct msd_native_window *w = s->p->window;
	const float *a = s->a;
	const float *x[VECTORS];

#pragma GCC unroll 3
	for (int v = 0; v < vectors; v++)
		x[v] = s->x[v];
	for (size_t k = 0; k < s->p->k; k += w->n_taps) {
		for (size_t t = 0; t < w->n_taps; t++) {
			const size_t at = w->taps[t];
			vec xv[VECTORS];

#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++)
				xv[v] = load(x[v] + at);
#pragma GCC unroll 8
			for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
				for (int v = 0; v < vectors; v++) {
					sums[r][v] =
						msd_fused(all(a[r]), xv[v], sums[r][v]);
				}
			}
			a += ROWS;
		}
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			x[v] += w->plane;
	}
}

INLINE void run_tile(const struct strip *s, const int rows, const int vectors)
{
	const struct msd_native_product *p = s->p;
	const float *first = p->start + s->m;
	vec sums[ROWS][VECTORS];

#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			sums[r][v] = all(first[r]);
	}
	multiply(s, rows, vectors, sums);
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
		const size_t row = (s->m + (size_t)r) * p->y_row;

#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++) {
			vec sum = sums[r][v];

			if (p->residual != NULL)
				sum += load(p->residual + row + s->to[v]);
			if (p->finish.is_bounded)
				sum = msd_bound(sum, &p->finish);
			store(p->y + row + s->to[v], sum);
		}
	}
}

typedef void tile_fn(const struct strip *s);

#define TILE(r, v)                                                                     \
	static void tile_##r##_##v(const struct strip *s)                              \
	{                                                                              \
		run_tile(s, r, v);                                                     \
	}
EACH_TILE

static tile_fn *const tiles[ROWS][VECTORS] = TILE_TABLE;

/* A strip stays close while all rows use it. */
static void run_strip(struct strip *s, size_t vectors, size_t m0, size_t m1)
{
	for (size_t m = m0; m < m1; m += ROWS) {
		s->a = s->p->packed_a + m * s->p->k;
		s->m = m;
		/* The analyzer does not see that all are set. NOLINTNEXTLINE */
		tiles[(m1 - m < ROWS ? m1 - m : ROWS) - 1][vectors - 1](s);
	}
}

/* The last vector of a line overlaps the one before. */
void LEVEL(convolve)(const struct msd_native_product *p, size_t m0, size_t m1,
		     size_t first, size_t end)
{
	const struct msd_native_window *w = p->window;
	const size_t n = w->out[W];
	struct strip s = {.p = p};
	size_t vectors = 0;

	for (size_t line = first; line < end; line++) {
		const float *x = w->x + line % w->out[H] * w->columns +
				 line / w->out[H] * w->stride[D] * msd_slice(w);

		for (size_t i = 0; i < n; i += LANES) {
			const size_t at = n - i < LANES ? n - LANES : i;

			s.x[vectors] = x + at;
			s.to[vectors] = line * n + at;
			if (++vectors == VECTORS) {
				run_strip(&s, vectors, m0, m1);
				vectors = 0;
			}
		}
	}
	if (vectors > 0)
		run_strip(&s, vectors, m0, m1);
	for (size_t m = m0; p->finish.has_function && m < m1; m++) {
		float *y = p->y + m * p->y_row + first * n;

		LEVEL(unary)
		(p->finish.function, y, (end - first) * n, p->finish.a, p->finish.b, y);
	}
}
