/*
 * Blocked matrix products. A part is one block of the output. For each block, ranges
 * of K of both matrices are packed into cache-sized memory and multiplied tile by
 * tile; the sums of a tile stay in registers. An output of one row, as for each
 * channel of a depthwise convolution, has no tiles. Its blocks are wide, so that each
 * packing call packs enough, unless b is packed by columns.
 */
#include "runtime/engine/reference/layer/product.h"

#include <string.h>

#include "runtime/kernel/kernel.h"

/*
 * The size of an output block and the packed range of K: 228 KiB, on the stack of a
 * pool thread. The taller a block, the less often b is packed again. Row sizes are
 * not powers of 2 bytes, because such rows would map to the same cache sets.
 */
enum { BLOCK_M = 96, BLOCK_N = 72, BLOCK_K = MSD_PRODUCT_INNER, LANES = 8 };

struct block {
	double a[BLOCK_M][BLOCK_K + LANES];
	double b[BLOCK_K][BLOCK_N];
	double sums[BLOCK_M][BLOCK_N];
};

/* For each vector of a tile; the count is a constant. */
#define EACH(i, n) _Pragma("GCC unroll 16") for (size_t i = 0; i < (n); i++)

/*
 * Multiply a block by tiles of @rows rows and LANES columns, in vectors of @bytes, the
 * machine's width: the compiler keeps wider vectors in memory. Inner sums take as many
 * registers as the sums, so such tiles have half of the rows.
 */
#define MULTIPLY(name, attributes, bytes, rows)                                        \
	typedef double name##_vector                                                   \
		__attribute__((vector_size(bytes), aligned(sizeof(double))));          \
                                                                                       \
	attributes static inline __attribute__((always_inline)) void name##_tile(      \
		struct block *t, size_t m, size_t n, size_t n_k, size_t inner,         \
		const size_t n_rows)                                                   \
	{                                                                              \
		enum { WIDE = LANES * sizeof(double) / (bytes) };                      \
		const size_t all = n_rows * WIDE;                                      \
		name##_vector sums[rows][WIDE];                                        \
		name##_vector parts[rows][WIDE];                                       \
                                                                                       \
		EACH(i, all)                                                           \
		sums[i / WIDE][i % WIDE] =                                             \
			((const name##_vector *)&t->sums[m + i / WIDE][n])[i % WIDE];  \
		for (size_t k = 0; inner == 0 && k < n_k; k++) {                       \
			const name##_vector *b = (const name##_vector *)&t->b[k][n];   \
                                                                                       \
			EACH(i, all)                                                   \
			sums[i / WIDE][i % WIDE] +=                                    \
				t->a[m + i / WIDE][k] * b[i % WIDE];                   \
		}                                                                      \
		for (size_t k = 0; inner > 0 && k < n_k;) {                            \
			const size_t end = k + inner;                                  \
                                                                                       \
			EACH(i, all)                                                   \
			parts[i / WIDE][i % WIDE] = (name##_vector){0};                \
			for (; k < end; k++) {                                         \
				const name##_vector *b =                               \
					(const name##_vector *)&t->b[k][n];            \
                                                                                       \
				EACH(i, all)                                           \
				parts[i / WIDE][i % WIDE] +=                           \
					t->a[m + i / WIDE][k] * b[i % WIDE];           \
			}                                                              \
			EACH(i, all)                                                   \
			sums[i / WIDE][i % WIDE] += parts[i / WIDE][i % WIDE];         \
		}                                                                      \
		EACH(i, all)                                                           \
		((name##_vector *)&t->sums[m + i / WIDE][n])[i % WIDE] =               \
			sums[i / WIDE][i % WIDE];                                      \
	}                                                                              \
                                                                                       \
	attributes static void name(struct block *t, size_t n_m, size_t n_n,           \
				    size_t n_k, size_t inner)                          \
	{                                                                              \
		for (size_t n = 0; n < n_n; n += LANES) {                              \
			size_t m = 0;                                                  \
                                                                                       \
			for (; inner == 0 && m + (rows) <= n_m; m += (rows))           \
				name##_tile(t, m, n, n_k, 0, rows);                    \
			for (; inner > 0 && m + (rows) / 2 <= n_m; m += (rows) / 2)    \
				name##_tile(t, m, n, n_k, inner, (rows) / 2);          \
			for (; inner == 0 && (rows) > 4 && m + 4 <= n_m; m += 4)       \
				name##_tile(t, m, n, n_k, 0, (rows) > 4 ? 4 : 1);      \
			for (; inner == 0 && m + 2 <= n_m; m += 2)                     \
				name##_tile(t, m, n, n_k, 0, 2);                       \
			for (; m < n_m; m++)                                           \
				name##_tile(t, m, n, n_k, inner, 1);                   \
		}                                                                      \
	}

typedef void multiply_fn(struct block *t, size_t n_m, size_t n_n, size_t n_k,
			 size_t inner);

MULTIPLY(multiply_any, , 16, 2)
#if defined(__x86_64__)
MULTIPLY(multiply_avx2, __attribute__((target("avx2,fma"))), 32, 6)
MULTIPLY(multiply_avx512, __attribute__((target("avx512f"))), 64, 8)
#endif

/* The widest version that the processor supports. */
static multiply_fn *best(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return multiply_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return multiply_avx2;
#endif
	return multiply_any;
}

/* Columns in a block of an output of one row. */
enum { ROW_N = 512 };

struct row_block {
	double a[BLOCK_K];
	double b[ROW_N];
	double sums[ROW_N];
};

static inline __attribute__((always_inline)) void add_row(struct row_block *t, double a,
							  size_t n)
{
	for (size_t i = 0; i < n; i++)
		t->sums[i] += a * t->b[i];
}

typedef void add_row_fn(struct row_block *t, double a, size_t n);

static void add_row_any(struct row_block *t, double a, size_t n)
{
	add_row(t, a, n);
}

#if defined(__x86_64__)
__attribute__((target("avx2,fma"))) static void add_row_avx2(struct row_block *t,
							     double a, size_t n)
{
	add_row(t, a, n);
}

__attribute__((target("avx512f"))) static void add_row_avx512(struct row_block *t,
							      double a, size_t n)
{
	add_row(t, a, n);
}
#endif

static add_row_fn *best_row(void)
{
#if defined(__x86_64__)
	if (__builtin_cpu_supports("avx512f"))
		return add_row_avx512;
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return add_row_avx2;
#endif
	return add_row_any;
}

static size_t blocks(size_t n, size_t size)
{
	return (n + size - 1) / size;
}

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

/* Pack @n_k rows and @n_n columns of b; pad with zero columns up to @wide_enough. */
static void bring_b(const struct msd_product *p, size_t stack, size_t k, size_t n_k,
		    size_t n, size_t n_n, size_t wide_enough, struct block *t)
{
	double column[BLOCK_K];

	for (size_t c = 0; p->columns != NULL && c < n_n; c++) {
		p->columns(p->ctx, stack, n + c, k, n_k, column);
		for (size_t i = 0; i < n_k; i++)
			t->b[i][c] = column[i];
	}
	for (size_t i = 0; i < n_k; i++) {
		if (p->columns == NULL)
			p->b(p->ctx, stack, k + i, n, n_n, t->b[i]);
		for (size_t c = n_n; c < wide_enough; c++)
			t->b[i][c] = 0;
	}
}

static void run_part(const void *ctx, size_t part)
{
	const struct msd_product *p = ctx;
	const size_t wide = blocks(p->n, BLOCK_N);
	const size_t high = blocks(p->m, BLOCK_M);
	const size_t stack = part / (wide * high);
	const size_t m = part / wide % high * BLOCK_M;
	const size_t n = part % wide * BLOCK_N;
	const size_t n_m = least(p->m - m, BLOCK_M);
	const size_t n_n = least(p->n - n, BLOCK_N);
	multiply_fn *const run = best();
	struct block t;

	/* The last multiplied columns may not exist. Clear only the part that is
	 * used: a depthwise convolution has blocks of one row and a small K. */
	const size_t wide_enough = blocks(n_n, LANES) * LANES;
	memset(t.sums, 0, n_m * sizeof(t.sums[0]));
	for (size_t i = 0; p->begin != NULL && i < n_m; i++)
		p->begin(p->ctx, stack, m + i, n, n_n, t.sums[i]);
	/* Whole inner sums. */
	const size_t most_k = p->inner > 0 ? BLOCK_K / p->inner * p->inner : BLOCK_K;
	for (size_t k = 0; k < p->k; k += most_k) {
		const size_t n_k = least(p->k - k, most_k);

		for (size_t i = 0; i < n_m; i++)
			p->a(p->ctx, stack, m + i, k, n_k, t.a[i]);
		bring_b(p, stack, k, n_k, n, n_n, wide_enough, &t);
		run(&t, n_m, n_n, n_k, p->inner);
	}
	for (size_t i = 0; i < n_m; i++)
		p->end(p->ctx, stack, m + i, n, n_n, t.sums[i]);
}

static void run_row(const void *ctx, size_t part)
{
	const struct msd_product *p = ctx;
	const size_t wide = blocks(p->n, ROW_N);
	const size_t stack = part / wide;
	const size_t n = part % wide * ROW_N;
	const size_t n_n = least(p->n - n, ROW_N);
	add_row_fn *const add = best_row();
	struct row_block t;

	memset(t.sums, 0, n_n * sizeof(t.sums[0]));
	if (p->begin != NULL)
		p->begin(p->ctx, stack, 0, n, n_n, t.sums);
	for (size_t k = 0; k < p->k; k++) {
		if (k % BLOCK_K == 0)
			p->a(p->ctx, stack, 0, k, least(p->k - k, BLOCK_K), t.a);
		p->b(p->ctx, stack, k, n, n_n, t.b);
		add(&t, t.a[k % BLOCK_K], n_n);
	}
	p->end(p->ctx, stack, 0, n, n_n, t.sums);
}

void msd_product_run(const struct msd_product *p)
{
	if (p->m == 1 && p->columns == NULL && p->inner == 0) {
		msd_kernel_each(p->n_stacks * blocks(p->n, ROW_N),
				least(p->n, ROW_N) * p->k / 4, run_row, p);
		return;
	}
	msd_kernel_each(p->n_stacks * blocks(p->m, BLOCK_M) * blocks(p->n, BLOCK_N),
			least(p->m, BLOCK_M) * least(p->n, BLOCK_N) * p->k / 8,
			run_part, p);
}
