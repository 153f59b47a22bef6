/*
 * Products of matrices. A block of b is brought into panels, PANEL columns wide, or
 * was packed at load; a tile of ROWS rows and one panel stays in registers over a
 * stretch of k. Sums run over k in order, and a lane is one element of the output:
 * blocks and threads do not change a bit.
 */
#include "runtime/engine/native/level/columns.h"
#include "runtime/engine/native/level/level.h"
#include "runtime/engine/native/level/tiles.h"

enum { DEPTH = 256, PANELS = 96 / PANEL, HEIGHT = 144, THIN = 40 << 10 };

enum start { START_ZERO, START_ROW, START_COLUMNS, START_LOAD };

struct tile {
	const float *a;
	size_t row, step; /* of a */
	const float *b;   /* a panel */
	size_t width;     /* of its rows */
	/* How far ahead tiles after this one read a and b. */
	size_t a_ahead, b_ahead;
	size_t k;
	float *y;
	size_t y_row;
	enum start start;
	const float *first; /* for START_ROW and START_COLUMNS */
	size_t first_row;
	const float *residual; /* NULL: none */
	size_t residual_row;
	const struct msd_native_finish *bounds; /* NULL: none */
};

/* Sums begin with @from, one for each row or for each element. */
INLINE void read_sums(const float *from, size_t row, const bool is_row, const int rows,
		      const int vectors, vec sums[ROWS][VECTORS])
{
#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
		const float *at = from + (size_t)r * row;

#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++)
			sums[r][v] = is_row ? all(*at) : load(at + v * LANES);
	}
}

INLINE void start(const struct tile *t, const int rows, const int vectors,
		  vec sums[ROWS][VECTORS])
{
	if (t->start == START_ROW) {
		read_sums(t->first, t->first_row, true, rows, vectors, sums);
	} else if (t->start == START_COLUMNS) {
		read_sums(t->first, t->first_row, false, rows, vectors, sums);
	} else if (t->start == START_LOAD) {
		read_sums(t->y, t->y_row, false, rows, vectors, sums);
	} else {
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++)
				sums[r][v] = (vec){0};
		}
	}
}

/* The bounds are read before the sums are written. */
INLINE void put_sums(const struct tile *t, const int rows, const int vectors,
		     vec sums[ROWS][VECTORS], const bool is_bounded,
		     const bool has_residual)
{
	const vec low = is_bounded ? all(t->bounds->low) : (vec){0};
	const vec high = is_bounded ? all(t->bounds->high) : (vec){0};

#pragma GCC unroll 8
	for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++) {
			vec sum = sums[r][v];

			if (has_residual) {
				sum += load(t->residual + (size_t)r * t->residual_row +
					    v * LANES);
			}
			if (is_bounded)
				sum = least(most(sum, low), high);
			store(t->y + (size_t)r * t->y_row + v * LANES, sum);
		}
	}
}

/* A tile may fetch what later tiles read. */
INLINE void multiply(const struct tile *t, const int rows, const int vectors,
		     const size_t row, const size_t step, const bool is_a_ahead,
		     const bool is_b_ahead, vec sums[ROWS][VECTORS])
{
	const float *a = t->a;
	const float *b = t->b;
	const size_t width = t->width;
	const size_t a_ahead = t->a_ahead;
	const size_t b_ahead = t->b_ahead;

	for (size_t k = 0; k < t->k; k++) {
		vec bv[VECTORS];
#pragma GCC unroll 3
		for (int v = 0; v < vectors; v++) {
			bv[v] = load(b + v * LANES);
			if (is_b_ahead)
				__builtin_prefetch(b + b_ahead + v * LANES, 0, 2);
		}
		if (is_a_ahead)
			__builtin_prefetch(a + a_ahead);
#pragma GCC unroll 8
		for (int r = 0; r < rows; r++) {
#pragma GCC unroll 3
			for (int v = 0; v < vectors; v++) {
				sums[r][v] = msd_fused(all(a[(size_t)r * row]), bv[v],
						       sums[r][v]);
			}
		}
		a += step;
		b += width;
	}
}

INLINE void run_tile(const struct tile *t, const int rows, const int vectors,
		     const size_t row, const size_t step)
{
	const bool is_packed = row == 1 && step == ROWS;
	vec sums[ROWS][VECTORS];

	start(t, rows, vectors, sums);
	if (is_packed && t->b_ahead > 0) {
		multiply(t, rows, vectors, row, step, false, true, sums);
	} else if (is_packed && t->a_ahead > 0) {
		multiply(t, rows, vectors, row, step, true, false, sums);
	} else {
		multiply(t, rows, vectors, row, step, false, false, sums);
	}
	if (t->residual != NULL) {
		if (t->bounds != NULL) {
			put_sums(t, rows, vectors, sums, true, true);
		} else {
			put_sums(t, rows, vectors, sums, false, true);
		}
	} else if (t->bounds != NULL) {
		put_sums(t, rows, vectors, sums, true, false);
	} else {
		put_sums(t, rows, vectors, sums, false, false);
	}
}

/* Tiles of each size. The rows of packed tiles are neighbours. */
typedef void tile_fn(const struct tile *t);

#define TILE(r, v)                                                                     \
	static void tile_##r##_##v(const struct tile *t)                               \
	{                                                                              \
		if (t->row == 1 && t->step == ROWS) {                                  \
			run_tile(t, r, v, 1, ROWS);                                    \
		} else {                                                               \
			run_tile(t, r, v, t->row, t->step);                            \
		}                                                                      \
	}
EACH_TILE

static tile_fn *const tiles[ROWS][VECTORS] = TILE_TABLE;

static void any_tile(const struct tile *t, size_t rows, size_t vectors)
{
	/* The analyzer does not see that all are set. NOLINTNEXTLINE */
	tiles[rows - 1][vectors - 1](t);
}

/* One row and four panels: enough sums to hide the latency of an addition. */
enum { WIDE = 4, AHEAD = 24 /* rows that are fetched before */ };
static void wide_row(const float *a, size_t step, const float *b, size_t panel,
		     size_t n, float *y, bool is_first)
{
	vec sums[WIDE][VECTORS];

	for (size_t p = 0; p < WIDE; p++) {
		for (size_t v = 0; v < VECTORS; v++) {
			sums[p][v] =
				is_first ? (vec){0} : load(y + p * PANEL + v * LANES);
		}
	}
	for (size_t k = 0; k < n; k++) {
		const vec av = all(a[k * step]);
#pragma GCC unroll 4
		for (size_t p = 0; p < WIDE; p++) {
#pragma GCC unroll 3
			for (size_t v = 0; v < VECTORS; v++) {
				const float *at = b + p * panel + k * PANEL + v * LANES;

				__builtin_prefetch(at + AHEAD * PANEL);
				sums[p][v] = msd_fused(av, load(at), sums[p][v]);
			}
		}
	}
	for (size_t p = 0; p < WIDE; p++) {
		for (size_t v = 0; v < VECTORS; v++)
			store(y + p * PANEL + v * LANES, sums[p][v]);
	}
}

/* The last columns, by way of a buffer: vectors would write beyond them. */
static void narrow_tile(const struct tile *t, size_t rows, size_t columns)
{
	float y[ROWS * PANEL] = {0};
	float residual[ROWS * PANEL] = {0};
	struct tile own = *t;

	for (size_t r = 0; r < rows; r++) {
		for (size_t c = 0; c < columns; c++) {
			const size_t at = r * t->first_row;

			if (t->start == START_LOAD) {
				y[r * PANEL + c] = t->y[r * t->y_row + c];
			} else if (t->start != START_ZERO) {
				y[r * PANEL + c] =
					t->first[at + (t->start == START_ROW ? 0 : c)];
			}
			if (t->residual != NULL) {
				residual[r * PANEL + c] =
					t->residual[r * t->residual_row + c];
			}
		}
	}
	own.y = y;
	own.y_row = PANEL;
	own.start = START_LOAD;
	own.residual = t->residual != NULL ? residual : NULL;
	own.residual_row = PANEL;
	any_tile(&own, rows, (columns + LANES - 1) / LANES);
	for (size_t r = 0; r < rows; r++)
		memcpy(t->y + r * t->y_row, y + r * PANEL, columns * sizeof(float));
}

/* The tile at row @m and column @n. */
static void run_one(const struct msd_native_product *p, const struct block *o,
		    struct tile *t, size_t m, size_t n)
{
	const size_t columns = o->n1 - n < PANEL ? o->n1 - n : PANEL;
	const size_t rows = o->m1 - m < ROWS ? o->m1 - m : ROWS;
	const bool is_last = o->k0 + o->kc == p->k;

	t->b = o->b + (n - o->n0) / PANEL * o->panel;
	t->a = o->a + (m - o->m0) / ROWS * o->height;
	t->y = p->y + m * p->y_row + n;
	t->a_ahead = n == o->n0 && m + ROWS < o->m1 ? o->height : 0;
	t->b_ahead = m == o->m0 && n + PANEL < o->n1 ? o->panel : 0;
	if (p->start != NULL) {
		t->first = p->start + m * p->start_row + (p->start_columns ? n : 0);
	}
	t->residual =
		is_last && p->residual != NULL ? p->residual + m * p->y_row + n : NULL;
	if (columns % LANES == 0) {
		any_tile(t, rows, columns / LANES);
	} else {
		narrow_tile(t, rows, columns);
	}
}

static enum start start_of(const struct msd_native_product *p, const struct block *o)
{
	if (o->k0 > 0)
		return START_LOAD;
	if (p->start == NULL)
		return START_ZERO;
	return p->start_columns ? START_COLUMNS : START_ROW;
}

static void run_block(const struct msd_native_product *p, const struct block *whole)
{
	const size_t few = (whole->n1 - whole->n0) % LANES;
	struct block block = *whole;
	const struct block *o = &block;
	const bool is_last = o->k0 + o->kc == p->k;
	struct tile t = {
		.start = start_of(p, o),
		.row = o->row,
		.step = o->step,
		.width = o->width,
		.k = o->kc,
		.y_row = p->y_row,
		.first_row = p->start_row,
		.residual_row = p->y_row,
		.bounds = is_last && p->finish.is_bounded ? &p->finish : NULL,
	};

	const bool has_few = o->step == ROWS && o->row == 1 && few <= FEW;

	if (has_few)
		block.n1 -= few;
	/* A panel stays close while all rows use it; a thin block stays close itself,
	 * and whole rows are written. */
	if (o->kc * (o->n1 - o->n0) > (size_t)THIN) {
		for (size_t n = o->n0; n < o->n1; n += PANEL) {
			for (size_t m = o->m0; m < o->m1; m += ROWS)
				run_one(p, o, &t, m, n);
		}
	} else {
		for (size_t m = o->m0; m < o->m1; m += ROWS) {
			for (size_t n = o->n0; n < o->n1; n += PANEL)
				run_one(p, o, &t, m, n);
		}
	}
	/* The tiles have brought the rows into the cache while they computed. */
	if (has_few)
		msd_few_columns(p, whole, block.n1);
}

/* Rows of a as tiles of ROWS, neighbours in k side by side. */
static void pack_rows(const float *a, size_t row, size_t step, size_t m, size_t k,
		      float *ret)
{
	for (size_t i = 0; i < m; i += ROWS) {
		const size_t rows = m - i < ROWS ? m - i : ROWS;

		for (size_t r = 0; r < rows; r++) {
			const float *from = a + (i + r) * row;

			for (size_t q = 0; q < k; q++)
				ret[q * ROWS + r] = from[q * step];
		}
		for (size_t r = rows; r < ROWS; r++) {
			for (size_t q = 0; q < k; q++)
				ret[q * ROWS + r] = 0;
		}
		ret += ROWS * k;
	}
}

size_t LEVEL(pack_a_floats)(size_t m, size_t k)
{
	return (m + ROWS - 1) / ROWS * ROWS * k;
}

size_t LEVEL(pack_b_floats)(size_t k, size_t n)
{
	return (n + PANEL - 1) / PANEL * PANEL * k;
}

void LEVEL(pack_a)(const float *a, size_t row, size_t step, size_t m, size_t k,
		   const float *factors, float *ret)
{
	pack_rows(a, row, step, m, k, ret);
	for (size_t i = 0; factors != NULL && i < m; i++) {
		float *at = ret + i / ROWS * ROWS * k + i % ROWS;

		for (size_t q = 0; q < k; q++)
			at[q * ROWS] *= factors[i];
	}
}

static void bring(const float *b, size_t row, size_t step, size_t k, size_t n,
		  float *ret)
{
	for (size_t j = 0; j < n; j += PANEL) {
		const size_t columns = n - j < PANEL ? n - j : PANEL;
		const float *from = b + j * step;

		for (size_t q = 0; q < k; q++) {
			float *to = ret + q * PANEL;

			if (step == 1 && columns == PANEL) {
				for (size_t v = 0; v < PANEL; v += LANES)
					store(to + v, load(from + q * row + v));
				continue;
			}
			for (size_t c = 0; c < PANEL; c++) {
				to[c] = c < columns ? from[q * row + c * step] : 0;
			}
		}
		ret += k * PANEL;
	}
}

void LEVEL(pack_b)(const float *b, size_t row, size_t step, size_t k, size_t n,
		   float *ret)
{
	bring(b, row, step, k, n, ret);
}

void LEVEL(bring_matrix)(const struct msd_native_product *p, size_t k0, size_t kc,
			 size_t n0, size_t nc, float *ret)
{
	bring(p->b + k0 * p->b_row + n0 * p->b_step, p->b_row, p->b_step, kc, nc, ret);
}

/* To rows of a block: neighbours hide each other's latency. */
static void apply_function(const struct msd_native_product *p, const struct block *o)
{
	for (size_t m = o->m0; m < o->m1; m++) {
		float *y = p->y + m * p->y_row + o->n0;

		LEVEL(unary)
		(p->finish.function, y, o->n1 - o->n0, p->finish.a, p->finish.b, y);
	}
}

static void run_stretch(const struct msd_native_product *p, struct block *o, size_t m0,
			size_t m1, float *scratch)
{
	for (o->m0 = m0; o->m0 < m1; o->m0 += HEIGHT) {
		o->m1 = m1 - o->m0 < HEIGHT ? m1 : o->m0 + HEIGHT;
		o->row = 1;
		o->step = ROWS;
		if (p->packed_a != NULL) {
			o->a = p->packed_a + o->m0 * p->k + o->k0 * ROWS;
			o->height = ROWS * p->k;
		} else if (o->n1 - o->n0 > PANEL && p->a_step != 1) {
			pack_rows(p->a + o->m0 * p->a_row + o->k0 * p->a_step, p->a_row,
				  p->a_step, o->m1 - o->m0, o->kc, scratch);
			o->a = scratch;
			o->height = ROWS * o->kc;
		} else {
			o->a = p->a + o->m0 * p->a_row + o->k0 * p->a_step;
			o->row = p->a_row;
			o->step = p->a_step;
			o->height = ROWS * p->a_row;
		}
		run_block(p, o);
		if (p->finish.has_function && o->k0 + o->kc == p->k)
			apply_function(p, o);
	}
}

/* The residual, the bounds and the function of a stripe of a row. */
static void finish_wide(const struct msd_native_product *p, size_t at)
{
	float *y = p->y + at;

	for (size_t c = 0; c < (size_t)WIDE * PANEL; c += LANES) {
		vec v = load(y + c);

		if (p->residual != NULL)
			v += load(p->residual + at + c);
		if (p->finish.is_bounded)
			v = msd_bound(v, &p->finish);
		store(y + c, v);
	}
	if (p->finish.has_function) {
		LEVEL(unary)
		(p->finish.function, y, (size_t)WIDE * PANEL, p->finish.a, p->finish.b,
		 y);
	}
}

/* The elements of a panel of a packed b. */
static size_t panel_of(const struct msd_native_product *p)
{
	return PANEL * (p->packed_k != 0 ? p->packed_k : p->k);
}

/* One row with b packed: stripes of four panels. Returns the first column that
 * remains. */
static size_t run_wide(const struct msd_native_product *p, size_t m, size_t n0,
		       size_t n1)
{
	const size_t panel = panel_of(p);

	for (; n0 + (size_t)WIDE * PANEL <= n1; n0 += (size_t)WIDE * PANEL) {
		float *y = p->y + m * p->y_row + n0;

		if (p->start != NULL) {
			const float *first = p->start + m * p->start_row;

			for (size_t c = 0; c < (size_t)WIDE * PANEL; c++)
				y[c] = first[p->start_columns ? n0 + c : 0];
		}
		wide_row(p->a + m * p->a_row, p->a_step,
			 p->packed_b + n0 / PANEL * panel, panel, p->k, y,
			 p->start == NULL);
		if (p->residual != NULL || p->finish.is_bounded ||
		    p->finish.has_function)
			finish_wide(p, m * p->y_row + n0);
	}
	return n0;
}

/* The columns of a block: all of a packed b, else as many as fit into the scratch. */
static size_t columns_of(const struct msd_native_product *p, size_t n)
{
	const size_t depth = p->k < DEPTH ? p->k + 1 : DEPTH;
	const size_t most = (size_t)DEPTH * PANELS / depth * PANEL;

	return p->packed_b != NULL || n < most ? n : most;
}

/* As many columns as can be read where they lie: vectors do not read beyond b. */
static size_t columns_in_place(const struct msd_native_product *p, size_t n)
{
	const size_t few = n % LANES;

	if (p->packed_b != NULL || p->bring != LEVEL(bring_matrix) || p->b_step != 1)
		return 0;
	return p->packed_a != NULL && few <= FEW ? n : n - few;
}

void LEVEL(product)(const struct msd_native_product *p, size_t m0, size_t m1, size_t n0,
		    size_t n1, float *scratch)
{
	float *room = scratch + (size_t)HEIGHT * DEPTH;

	if (m1 - m0 == 1 && p->packed_b != NULL && p->packed_a == NULL)
		n0 = run_wide(p, m0, n0, n1);
	while (n0 < n1) {
		struct block o = {.n0 = n0};
		const size_t in_place = columns_in_place(p, n1 - n0);
		const size_t step = in_place > 0 ? in_place : columns_of(p, n1 - n0);

		o.n1 = n0 + step;
		do {
			o.kc = p->k - o.k0 < DEPTH ? p->k - o.k0 : DEPTH;
			o.panel = p->packed_b != NULL ? panel_of(p) : PANEL * o.kc;
			o.width = PANEL;
			o.b = room;
			if (p->packed_b != NULL) {
				o.b = p->packed_b + n0 / PANEL * o.panel + o.k0 * PANEL;
			} else if (in_place > 0) {
				o.b = p->b + o.k0 * p->b_row + n0;
				o.panel = PANEL;
				o.width = p->b_row;
			} else {
				p->bring(p, o.k0, o.kc, n0, step, room);
			}
			run_stretch(p, &o, m0, m1, scratch);
			o.k0 += o.kc;
		} while (o.k0 < p->k);
		n0 += step;
	}
}

const size_t LEVEL(product_scratch) = (size_t)HEIGHT * DEPTH +
				      (size_t)DEPTH * PANELS * PANEL + PANEL;
