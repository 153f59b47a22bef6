/*
 * Depthwise convolutions and pools on padded planes. Two or, for tall kernels, four
 * rows of the output are computed at a time. The last vector of a row overlaps the one
 * before; if rows are shorter than a vector, the next row overwrites what is too much.
 */
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/taps.h"

enum { NINE = 9, TALL = 4 };

/* The outputs of one depth, and what happens to them. */
struct planes {
	const struct msd_native_window *w;
	const float *x; /* the first output's elements begin here */
	const float *weights;
	float start;
	const float *residual, *counts; /* NULL: none */
	bool is_bounded;
	float low, high;
	float *y;
	size_t room; /* vectors may write so much: later rows are written later */
	size_t rows, columns;
	size_t line; /* floats from one row of @x to the next */
};

/* MULTIPLY_THREE: nine taps in three rows, which neighbours of the output share;
 * MULTIPLY_TALL: as many rows as TALL or more, which they share, too. */
enum kind { MULTIPLY_THREE, MULTIPLY_NINE, MULTIPLY_TALL, MULTIPLY, COMPARE, SUM };

/* Weights and places of nine taps stay in registers. */
struct nine {
	const float *x[NINE];
	vec weights[NINE];
};

INLINE void set_nine(const struct planes *p, struct nine *n)
{
#pragma GCC unroll 9
	for (int t = 0; t < NINE; t++) {
		n->x[t] = p->x + p->w->taps[t];
		n->weights[t] = all(p->weights[t]);
	}
}

/* Each row of the input is read once for two rows of the output. */
INLINE void multiply_three(const struct planes *p, const struct nine *n, size_t from,
			   const int rows, vec sums[2][2])
{
#pragma GCC unroll 4
	for (int l = 0; l < rows + 2; l++) {
#pragma GCC unroll 3
		for (int k = 0; k < 3; k++) {
			const vec x = l < 3 ? load(n->x[3 * l + k] + from)
					    : load(n->x[6 + k] + p->line + from);

			if (l < 3) {
				sums[0][0] =
					msd_fused(n->weights[3 * l + k], x, sums[0][0]);
			}
			if (l > 0 && rows == 2) {
				sums[1][0] = msd_fused(n->weights[3 * (l - 1) + k], x,
						       sums[1][0]);
			}
		}
	}
}

INLINE vec add_tap(const enum kind kind, vec sum, vec weight, vec x)
{
	if (kind == COMPARE) /* NaN loses, as in the reference engine */
		return most(sum, x);
	return kind == SUM ? sum + x : sum + weight * x;
}

INLINE void add_taps(const struct planes *p, const struct nine *n, const enum kind kind,
		     size_t from, const int rows, const int vectors, vec sums[2][2])
{
	const size_t n_taps = kind == MULTIPLY_NINE ? NINE : p->w->n_taps;

#pragma GCC unroll 9
	for (size_t t = 0; t < n_taps; t++) {
		const float *x = kind == MULTIPLY_NINE ? n->x[t] + from
						       : p->x + from + p->w->taps[t];
		const vec weight = kind == MULTIPLY_NINE ? n->weights[t]
				   : kind == MULTIPLY    ? all(p->weights[t])
							 : (vec){0};

#pragma GCC unroll 2
		for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
			for (int v = 0; v < vectors; v++) {
				const float *at = x + (r > 0 ? p->line : 0) + v * LANES;

				sums[r][v] =
					add_tap(kind, sums[r][v], weight, load(at));
			}
		}
	}
}

/* Outputs @to .. @to + LANES - 1, of which @n count. */
INLINE void put(const struct planes *p, const enum kind kind, vec v, size_t to,
		size_t n)
{
	const bool is_whole = to + LANES <= p->room;

	if (kind == SUM) {
		v = v /
		    (is_whole ? load(p->counts + to) : load_some(p->counts + to, n, 1));
	}
	if (p->residual != NULL) {
		v += is_whole ? load(p->residual + to)
			      : load_some(p->residual + to, n, 0);
	}
	if (p->is_bounded)
		v = least(most(v, all(p->low)), all(p->high));
	if (is_whole) {
		store(p->y + to, v);
	} else {
		store_some(p->y + to, v, n);
	}
}

/* @rows rows from @y on, some vectors from column @i on, of which @left columns
 * count. */
INLINE void run_unit(const struct planes *p, const struct nine *n, const enum kind kind,
		     const int rows, const int vectors, size_t y, size_t i, size_t left)
{
	const vec start = all(p->start);
	vec sums[2][2] = {{start, start}, {start, start}};

	if (kind == MULTIPLY_THREE) {
		multiply_three(p, n, y * p->line + i, rows, sums);
	} else {
		add_taps(p, n, kind, y * p->line + i, rows, vectors, sums);
	}
#pragma GCC unroll 2
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 2
		for (int v = 0; v < vectors; v++) {
			put(p, kind, sums[r][v],
			    (y + (size_t)r) * p->columns + i + (size_t)v * LANES, left);
		}
	}
}

INLINE void run_rows(const struct planes *p, const struct nine *n, const enum kind kind,
		     const int rows, size_t y)
{
	const size_t columns = p->columns;
	size_t i = 0;

	if (kind != MULTIPLY_THREE && kind != MULTIPLY_NINE) {
		for (; i + 2 * LANES <= columns; i += 2 * LANES)
			run_unit(p, n, kind, rows, 2, y, i, LANES);
	}
	for (; i + LANES <= columns; i += LANES)
		run_unit(p, n, kind, rows, 1, y, i, LANES);
	if (i < columns) {
		run_unit(p, n, kind, rows, 1, y, columns < LANES ? 0 : columns - LANES,
			 columns);
	}
}

/* A row of the input, for rows @first .. @last of the output. @weights belong to row
 * @first; the row after it takes the row of the kernel before them. */
INLINE void add_line(const struct planes *p, const float *x, const float *weights,
		     const int first, const int last, const int vectors, size_t gap,
		     vec sums[TALL][2])
{
	const size_t width = p->w->kernel[W];

	for (size_t k = 0; k < width; k++) {
		const float *at = x + p->w->taps[k];
		const vec a = load(at);
		const vec b = vectors == 2 ? load(at + gap) : a;

#pragma GCC unroll 4
		for (int r = first; r <= last; r++) {
			const vec weight =
				all(*(weights + k - (size_t)(r - first) * width));

			sums[r][0] = msd_fused(weight, a, sums[r][0]);
			if (vectors == 2)
				sums[r][1] = msd_fused(weight, b, sums[r][1]);
		}
	}
}

/* TALL rows; each row of the input is read once for all of them. */
INLINE void multiply_tall(const struct planes *p, size_t from, const int vectors,
			  size_t gap, vec sums[TALL][2])
{
	const size_t height = p->w->kernel[H];
	const size_t width = p->w->kernel[W];
	const float *x = p->x + from;
	const float *weights = p->weights;
	const float *last = p->weights + (height - 1) * width;

	add_line(p, x, weights, 0, 0, vectors, gap, sums);
	add_line(p, x + p->line, weights + width, 0, 1, vectors, gap, sums);
	add_line(p, x + 2 * p->line, weights + 2 * width, 0, 2, vectors, gap, sums);
	for (size_t l = TALL - 1; l < height; l++) {
		add_line(p, x + l * p->line, weights + l * width, 0, 3, vectors, gap,
			 sums);
	}
	x += height * p->line;
	add_line(p, x, last, 1, 3, vectors, gap, sums);
	add_line(p, x + p->line, last, 2, 3, vectors, gap, sums);
	add_line(p, x + 2 * p->line, last, 3, 3, vectors, gap, sums);
}

/* TALL rows from @y on; vectors at column @i and @gap columns further. */
INLINE void run_tall_unit(const struct planes *p, const int vectors, size_t y, size_t i,
			  size_t gap)
{
	const vec start = all(p->start);
	vec sums[TALL][2] = {
		{start, start}, {start, start}, {start, start}, {start, start}};
	const size_t n = p->columns < LANES ? p->columns : LANES;

	multiply_tall(p, y * p->line + i, vectors, gap, sums);
#pragma GCC unroll 4
	for (int r = 0; r < TALL; r++) {
#pragma GCC unroll 2
		for (int v = 0; v < vectors; v++) {
			put(p, MULTIPLY_TALL, sums[r][v],
			    (y + (size_t)r) * p->columns + i + (size_t)v * gap, n);
		}
	}
}

static void run_tall_rows(const struct planes *p, size_t y)
{
	const size_t columns = p->columns;
	size_t i = 0;

	for (; i + 2 * LANES <= columns; i += 2 * LANES)
		run_tall_unit(p, 2, y, i, LANES);
	if (columns - i > LANES) {
		run_tall_unit(p, 2, y, i, columns - i - LANES);
	} else if (i < columns) {
		run_tall_unit(p, 1, y, columns < LANES ? 0 : columns - LANES, 0);
	}
}

/* The last rows overlap the ones before. */
static void run_tall(const struct planes *p)
{
	for (size_t y = 0; y + TALL < p->rows; y += TALL)
		run_tall_rows(p, y);
	run_tall_rows(p, p->rows - TALL);
}

/* @p is a copy, which outputs do not alias: it stays in registers. */
INLINE void run_plane(const struct planes p, const enum kind kind)
{
	struct nine n;
	size_t y = 0;

	if (kind == MULTIPLY_THREE || kind == MULTIPLY_NINE)
		set_nine(&p, &n);
	for (; y + 2 <= p.rows; y += 2)
		run_rows(&p, &n, kind, 2, y);
	if (y < p.rows)
		run_rows(&p, &n, kind, 1, y);
}

static void run_kind(const struct planes *p, enum kind kind)
{
	switch (kind) {
	case MULTIPLY_THREE:
		run_plane(*p, MULTIPLY_THREE);
		break;
	case MULTIPLY_NINE:
		run_plane(*p, MULTIPLY_NINE);
		break;
	case MULTIPLY_TALL:
		if (p->rows >= TALL) {
			run_tall(p);
			break;
		}
		/* fallthrough */
	case MULTIPLY:
		run_plane(*p, MULTIPLY);
		break;
	case COMPARE:
		run_plane(*p, COMPARE);
		break;
	case SUM:
		run_plane(*p, SUM);
		break;
	}
}

/* Each depth of the output. @p has its parts of the first depth. Rows without padding
 * between them are one. */
static void run_slices(struct planes *p, const float *x, float *y, enum kind kind)
{
	const struct msd_native_window *w = p->w;
	const size_t plane = w->out[H] * w->out[W];
	const bool is_one = w->columns == w->out[W];

	p->rows = is_one ? 1 : w->out[H];
	p->columns = is_one ? plane : w->out[W];
	p->line = w->columns;
	for (size_t d = 0; d < w->out[D]; d++) {
		p->x = x + d * w->stride[D] * msd_slice(w);
		p->y = y + d * plane;
		p->room = (w->out[D] - d) * plane;
		run_kind(p, kind);
		p->residual = p->residual != NULL ? p->residual + plane : NULL;
		p->counts = p->counts != NULL ? p->counts + plane : NULL;
	}
}

static enum kind kind_of(const struct msd_native_window *w)
{
	if (w->kernel[D] == 1 && w->kernel[H] >= TALL && w->stride[H] == 1 &&
	    w->dilation[H] == 1)
		return MULTIPLY_TALL;
	if (w->n_taps != NINE)
		return MULTIPLY;
	return w->kernel[H] == 3 && w->kernel[W] == 3 && w->dilation[H] == 1 &&
			       w->stride[H] == 1
		       ? MULTIPLY_THREE
		       : MULTIPLY_NINE;
}

/* @x is one padded plane with room for two vectors behind it. */
void LEVEL(depthwise)(const struct msd_native_window *w, const float *x,
		      const float *weights, float start, const float *residual,
		      struct msd_native_finish finish, float *y)
{
	struct planes p = {
		.w = w,
		.weights = weights,
		.start = start,
		.residual = residual,
		.is_bounded = finish.is_bounded,
		.low = finish.low,
		.high = finish.high,
	};

	run_slices(&p, x, y, kind_of(w));
	if (finish.has_function) {
		LEVEL(unary)
		(finish.function, y, w->out[D] * w->out[H] * w->out[W], finish.a,
		 finish.b, y);
	}
}

void LEVEL(pool)(const struct msd_native_window *w, const float *x, const float *counts,
		 float *y)
{
	struct planes p = {
		.w = w,
		.counts = counts,
		.start = counts != NULL ? 0 : -__builtin_inff(),
	};

	run_slices(&p, x, y, counts != NULL ? SUM : COMPARE);
}
