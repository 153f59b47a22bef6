#ifndef MSD_RUNTIME_ENGINE_NATIVE_LEVEL_COLUMNS_H
#define MSD_RUNTIME_ENGINE_NATIVE_LEVEL_COLUMNS_H
/*
 * The last columns of a block of a product, if they are few: lanes are rows of packed
 * tiles of a. A vector of columns would be empty for the most part.
 */
#include "runtime/engine/native/level/level.h"

/* A block of the product: rows m0 .. m1, panels from n0 to n1, k0 .. k0 + kc. */
struct block {
	size_t m0, m1, n0, n1, k0, kc;
	const float *b;
	size_t panel; /* elements between panels */
	size_t width; /* elements between rows of a panel */
	const float *a;
	size_t row, step; /* of a */
	size_t height;    /* elements between tiles of a */
};

/* Half a vector, if the rows of a tile fit into it. */
#define PART (MSD_ROWS * 2 <= MSD_LANES ? MSD_LANES / 2 : MSD_LANES)

typedef float part __attribute__((vector_size(PART * 4)));
typedef float part_at __attribute__((vector_size(PART * 4), aligned(4), may_alias));

enum {
	FEW = LANES < 8 ? LANES / 2 : 4, /* the most columns */
	TALL = LANES < 16 ? 4 : 8,       /* tiles, which hide each other's latency */
	HIGH = (ROWS + PART - 1) / PART
};

struct columns {
	const struct msd_native_product *p;
	const struct block *o;
	size_t m, n;
	part sums[TALL][FEW][HIGH];
};

/* Row @r of a tile. The last row of all has no floats behind it. */
INLINE part load_rows(const float *a, const int v, const bool is_end)
{
	const int n = ROWS - v * PART;
	float at[PART] = {0};

	if (!is_end || n >= PART)
		return *(const part_at *)(a + v * PART);
	for (int i = 0; i < n; i++)
		at[i] = a[v * PART + i];
	return *(const part_at *)at;
}

/* As msd_fused(). */
INLINE part fused_part(part a, float b, part c)
{
#if defined(__FMA__) && PART == 8
	return (part)_mm256_fmadd_ps((__m256)a, _mm256_set1_ps(b), (__m256)c);
#elif defined(__ARM_NEON) && PART == 4
	return (part)vfmaq_n_f32((float32x4_t)c, (float32x4_t)a, b);
#else
	return a * b + c;
#endif
}

INLINE void multiply_columns(part sums[TALL][FEW][HIGH], const float *a, size_t height,
			     const float *b, const int tall, const int columns,
			     const bool is_end)
{
#pragma GCC unroll 8
	for (int t = 0; t < tall; t++) {
#pragma GCC unroll 2
		for (int v = 0; v < HIGH; v++) {
			const part av = load_rows(a + (size_t)t * height, v, is_end);

#pragma GCC unroll 4
			for (int c = 0; c < columns; c++)
				sums[t][c][v] = fused_part(av, b[c], sums[t][c][v]);
		}
	}
}

/* The rows of a tile in memory: they begin there, and end there. */
INLINE void start_columns(struct columns *q, int t, int c, size_t rows)
{
	const struct msd_native_product *p = q->p;
	const size_t m = q->m + (size_t)t * ROWS;
	const size_t n = q->n + (size_t)c;
	float at[HIGH * PART] = {0};

	for (size_t r = 0; r < rows; r++) {
		if (q->o->k0 > 0) {
			at[r] = p->y[(m + r) * p->y_row + n];
		} else if (p->start != NULL) {
			at[r] = p->start[(m + r) * p->start_row +
					 (p->start_columns ? n : 0)];
		}
	}
	for (int v = 0; v < HIGH; v++)
		q->sums[t][c][v] = *(const part_at *)(at + (size_t)v * PART);
}

INLINE void put_columns(const struct columns *q, int t, int c, size_t rows)
{
	const struct msd_native_product *p = q->p;
	const size_t at = (q->m + (size_t)t * ROWS) * p->y_row + q->n + (size_t)c;
	const bool is_last = q->o->k0 + q->o->kc == p->k;
	float y[HIGH * LANES] = {0};

	for (int v = 0; v < HIGH; v++)
		*(part_at *)(y + (size_t)v * PART) = q->sums[t][c][v];
	for (size_t r = 0; is_last && p->residual != NULL && r < rows; r++)
		y[r] += p->residual[at + r * p->y_row];
	for (size_t v = 0; is_last && p->finish.is_bounded && v < HIGH; v++)
		store(y + v * LANES, msd_bound(load(y + v * LANES), &p->finish));
	for (size_t r = 0; r < rows; r++)
		p->y[at + r * p->y_row] = y[r];
}

/* @tall tiles from row @m on. */
INLINE void run_columns(const struct msd_native_product *p, const struct block *o,
			size_t m, size_t n, const int tall, const int columns)
{
	struct columns q = {.p = p, .o = o, .m = m, .n = n};
	const float *a = o->a + (m - o->m0) / ROWS * o->height;
	const float *b = o->b + (n - o->n0) / PANEL * o->panel + (n - o->n0) % PANEL;
	const size_t height = o->height;
	const size_t width = o->width;
	size_t k = 0;
	size_t rows[TALL];

#pragma GCC unroll 8
	for (int t = 0; t < tall; t++) {
		const size_t left = o->m1 - m - (size_t)t * ROWS;

		rows[t] = left < ROWS ? left : ROWS;
#pragma GCC unroll 4
		for (int c = 0; c < columns; c++)
			start_columns(&q, t, c, rows[t]);
	}
	for (; k + 1 < o->kc; k++) {
		multiply_columns(q.sums, a + k * ROWS, height, b + k * width, tall,
				 columns, false);
	}
	if (k < o->kc) {
		multiply_columns(q.sums, a + k * ROWS, height, b + k * width, tall,
				 columns, true);
	}
#pragma GCC unroll 8
	for (int t = 0; t < tall; t++) {
#pragma GCC unroll 4
		for (int c = 0; c < columns; c++)
			put_columns(&q, t, c, rows[t]);
	}
}

INLINE void each_columns(const struct msd_native_product *p, const struct block *o,
			 size_t n, const int columns)
{
	const int tall = columns * HIGH <= 2 ? TALL : TALL / 2;
	const size_t step = (size_t)tall * ROWS;
	size_t m = o->m0;

	for (; m + step - ROWS < o->m1; m += step)
		run_columns(p, o, m, n, tall, columns);
	for (; m < o->m1; m += ROWS)
		run_columns(p, o, m, n, 1, columns);
}

/* Columns @n .. n1 - 1 of a block, at most FEW. */
static inline void msd_few_columns(const struct msd_native_product *p,
				   const struct block *o, size_t n)
{
	switch (o->n1 - n) {
	case 1:
		each_columns(p, o, n, 1);
		break;
	case 2:
		each_columns(p, o, n, 2);
		break;
#if MSD_LANES >= 8
	case 3:
		each_columns(p, o, n, 3);
		break;
	case 4:
		each_columns(p, o, n, 4);
		break;
#endif
	default:
		break;
	}
}

#endif
