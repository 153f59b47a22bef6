/*
 * Winograd's convolution with kernels of 3 x 3, in tiles of 2 x 2 outputs: the inputs
 * of a tile become 16 values, as do the kernels; products of these values replace 36
 * multiplications by 16. A lane is a tile, so that each output is computed in one
 * order.
 *
 * Even and odd rows and columns of a padded plane lie apart (pad_plane() with strides
 * of 2): the same element of neighbouring tiles is one stretch of memory, but for an
 * element between two rows of tiles.
 */
#include "runtime/engine/native/level/level.h"

enum { VALUES = MSD_NATIVE_WINOGRAD };

/* Tiles of one row of tiles, neighbours in the output's columns. */
struct stretch {
	size_t y, x, n;
};

static struct stretch stretch_at(const struct msd_native_winograd *w, size_t tile,
				 size_t most)
{
	const size_t x = tile % w->columns;
	const size_t left = w->columns - x;

	return (struct stretch){tile / w->columns, x, left < most ? left : most};
}

/* Element @i of the sum of each two rows or columns that a kernel's element meets. */
#define DIFFERENCES(to, step, a, b, c, d)                                              \
	do {                                                                           \
		(to)[0] = (a) - (c);                                                   \
		(to)[(size_t)1 * (step)] = (b) + (c);                                  \
		(to)[(size_t)2 * (step)] = (c) - (b);                                  \
		(to)[(size_t)3 * (step)] = (b) - (d);                                  \
	} while (0)

/* A vector of tiles: where its elements begin, and the lanes' distances from there. */
struct lanes {
	size_t at;
	bool has_gaps; /* Else lane i lies at i. */
	ivec from;
};

/* Lanes beyond the last tile are copies of it: other numbers could be so small that
 * the processor multiplies them slowly. */
static struct lanes lanes_at(const struct msd_native_winograd *w, size_t tile, size_t n)
{
	struct lanes ret = {.at = tile / w->columns * w->row + tile % w->columns};

	for (size_t i = 0; i < LANES; i++) {
		const size_t t = tile + (i < n ? i : n - 1);
		const size_t at = t / w->columns * w->row + t % w->columns;

		ret.from[i] = (int32_t)(at - ret.at);
		ret.has_gaps = ret.has_gaps || at - ret.at != i;
	}
	return ret;
}

INLINE vec load_lanes(const float *x, const bool has_gaps, ivec from)
{
	return has_gaps ? load_from(x, from) : load(x);
}

/* @x: the first element of the first tile. The values lie @size floats apart. */
INLINE void bring_tiles(const struct msd_native_winograd *w, const float *x,
			const bool has_gaps, ivec from, size_t size, float *ret)
{
	vec t[4][4];

#pragma GCC unroll 4
	for (int r = 0; r < 4; r++) {
		const float *even =
			x + (size_t)(r % 2 * 2) * w->phase + (size_t)(r / 2) * w->row;
		const float *odd = even + w->phase;
		const vec a = load_lanes(even, has_gaps, from);
		const vec b = load_lanes(odd, has_gaps, from);
		const vec c = load_lanes(even + 1, has_gaps, from);
		const vec d = load_lanes(odd + 1, has_gaps, from);

		DIFFERENCES(t[r], 1, a, b, c, d);
	}
#pragma GCC unroll 4
	for (int c = 0; c < 4; c++) {
		vec v[4];

		DIFFERENCES(v, 1, t[0][c], t[1][c], t[2][c], t[3][c]);
#pragma GCC unroll 4
		for (int r = 0; r < 4; r++)
			store(ret + (size_t)(r * 4 + c) * size, v[r]);
	}
}

/* The values of tiles @tile .. @tile + @n - 1 of all planes: a panel has a row for each
 * plane; values lie @size floats apart. Vectors beyond the last tile stay. */
void LEVEL(winograd_bring)(const struct msd_native_winograd *w, const float *planes,
			   size_t n_planes, size_t tile, size_t n, size_t size,
			   float *ret)
{
	for (size_t i = 0; i < n; i += LANES) {
		const struct lanes l = lanes_at(w, tile + i, n - i);
		const float *x = planes + l.at;
		float *to = ret + i / PANEL * PANEL * n_planes + i % PANEL;

		for (size_t c = 0; c < n_planes; c++, to += PANEL) {
			if (l.has_gaps) {
				bring_tiles(w, x, true, l.from, size, to);
			} else {
				bring_tiles(w, x, false, l.from, size, to);
			}
			x += 4 * w->phase;
		}
	}
}

struct put {
	const struct msd_native_winograd *w;
	const struct msd_native_winograd_out *o;
	float sums[4][MSD_NATIVE_WINOGRAD_TILES + 2 * LANES]; /* by output of a tile */
};

INLINE void put_tiles(struct put *p, size_t i)
{
	const size_t size = p->o->size;
	const vec start = all(p->o->start);
	vec top[4];
	vec low[4];

#pragma GCC unroll 4
	for (int c = 0; c < 4; c++) {
		const float *at = p->o->sums + i + (size_t)c * size;
		const vec a = load(at);
		const vec b = load(at + 4 * size);
		const vec m = load(at + 8 * size);
		const vec d = load(at + 12 * size);

		top[c] = a + b + m;
		low[c] = b - m - d;
	}
	store(p->sums[0] + i, top[0] + top[1] + top[2] + start);
	store(p->sums[1] + i, top[1] - top[2] - top[3] + start);
	store(p->sums[2] + i, low[0] + low[1] + low[2] + start);
	store(p->sums[3] + i, low[1] - low[2] - low[3] + start);
}

/* At most a vector. */
INLINE void put_vector(const struct put *p, const float *sums, size_t at, size_t n)
{
	const struct msd_native_finish *f = &p->o->finish;
	const float *residual = p->o->residual;
	float *y = p->o->y + at;
	const bool is_whole = n >= LANES;
	vec v = load(sums);

	if (residual != NULL) {
		v += is_whole ? load(residual + at) : load_some(residual + at, n, 0);
	}
	if (f->is_bounded)
		v = msd_bound(v, f);
	if (is_whole) {
		store(y, v);
	} else {
		store_some(y, v, n);
	}
}

static void put_row(const struct put *p, const float *even, const float *odd, size_t y,
		    size_t x, size_t n)
{
	const size_t at = y * p->w->out[1] + x;
	const struct msd_native_finish *f = &p->o->finish;

	for (size_t i = 0; i < n; i += (size_t)2 * LANES) {
		float pairs[2 * LANES];

		msd_interleave(load(even + i / 2), load(odd + i / 2), pairs);
		put_vector(p, pairs, at + i, n - i);
		if (n - i > LANES)
			put_vector(p, pairs + LANES, at + i + LANES, n - i - LANES);
	}
	if (f->has_function) {
		float *to = p->o->y + at;

		LEVEL(unary)(f->function, to, n, f->a, f->b, to);
	}
}

void LEVEL(winograd_put)(const struct msd_native_winograd *w,
			 const struct msd_native_winograd_out *o)
{
	struct put p;

	p.w = w;
	p.o = o;
	for (size_t i = 0; i < o->n; i += LANES)
		put_tiles(&p, i);
	for (size_t i = 0; i < o->n;) {
		const struct stretch s = stretch_at(w, o->tile + i, o->n - i);
		const size_t left = w->out[1] - 2 * s.x;
		const size_t columns = left < 2 * s.n ? left : 2 * s.n;

		put_row(&p, p.sums[0] + i, p.sums[1] + i, 2 * s.y, 2 * s.x, columns);
		if (2 * s.y + 1 < w->out[0]) {
			put_row(&p, p.sums[2] + i, p.sums[3] + i, 2 * s.y + 1, 2 * s.x,
				columns);
		}
		i += s.n;
	}
}

/* Sums of a few elements stay finite and exact enough. */
bool LEVEL(is_tame)(const float *x, size_t n)
{
	const ivec most = (ivec)all(MSD_NATIVE_TAME);
	ivec wild = {0};
	bool is_wild = false;

	for (size_t i = 0; i < n; i += LANES) {
		const vec v = n - i >= LANES ? load(x + i) : load_some(x + i, n - i, 0);

		wild |= ((ivec)v & 0x7fffffff) > most;
	}
	for (size_t i = 0; i < LANES; i++)
		is_wild = is_wild || wild[i] != 0;
	return !is_wild;
}
