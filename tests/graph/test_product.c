/* Products by blocks: the same bits as a loop that adds in the order of K, whatever the
 * extents and the elements. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/engine/reference/layer/product.h"
#include "runtime/kernel/row.h"
#include "runtime/pool/pool.h"

#define STACKS 2u

struct data {
	size_t m, n, k;
	float *a;
	float *b;
	double *y;
};

static void get_a(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret)
{
	const struct data *d = ctx;

	for (size_t i = 0; i < count; i++)
		ret[i] = (double)d->a[(stack * d->m + m) * d->k + first + i];
}

static void get_column(const void *ctx, size_t stack, size_t n, size_t first,
		       size_t count, double *ret)
{
	const struct data *d = ctx;

	for (size_t i = 0; i < count; i++)
		ret[i] = (double)d->b[(stack * d->k + first + i) * d->n + n];
}

static void get_b(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret)
{
	const struct data *d = ctx;

	for (size_t i = 0; i < count; i++)
		ret[i] = (double)d->b[(stack * d->k + k) * d->n + first + i];
}

static void begin(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret)
{
	(void)ctx;
	for (size_t i = 0; i < count; i++)
		ret[i] = (double)(stack + m + first + i);
}

static void end(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		double *sums)
{
	const struct data *d = ctx;

	memcpy(d->y + (stack * d->m + m) * d->n + first, sums, count * sizeof(*sums));
}

static double by_loop(const struct data *d, size_t stack, size_t m, size_t n)
{
	double sum = (double)(stack + m + n);

	for (size_t k = 0; k < d->k; k++) {
		sum += (double)d->a[(stack * d->m + m) * d->k + k] *
		       (double)d->b[(stack * d->k + k) * d->n + n];
	}
	return sum;
}

static float *make(size_t n)
{
	float *p = calloc(n + 1, sizeof(*p));

	cr_assert_not_null(p);
	for (size_t i = 0; i < n; i++)
		p[i] = (float)((i * 7919 + 13) % 1009) / 101.0f - 5;
	return p;
}

static void expect_bits(size_t m, size_t n, size_t k, bool by_columns)
{
	struct data d = {m, n, k, make(STACKS * m * k), make(STACKS * k * n), NULL};
	const struct msd_product p = {.n_stacks = STACKS,
				      .m = m,
				      .n = n,
				      .k = k,
				      .a = get_a,
				      .b = get_b,
				      .columns = by_columns ? get_column : NULL,
				      .begin = begin,
				      .end = end,
				      .ctx = &d};

	d.y = calloc(STACKS * m * n + 1, sizeof(*d.y));
	cr_assert_not_null(d.y);
	msd_product_run(&p);
	for (size_t i = 0; i < STACKS * m * n; i++) {
		const double want = by_loop(&d, i / (m * n), i / n % m, i % n);

		cr_assert_eq(d.y[i], want, "element %zu of %zu x %zu x %zu", i, m, n,
			     k);
	}
	free(d.a);
	free(d.b);
	free(d.y);
}

static void expect_same_bits(size_t m, size_t n, size_t k)
{
	expect_bits(m, n, k, false);
	expect_bits(m, n, k, true);
}

Test(product, has_the_bits_of_a_loop_at_the_edges_of_its_blocks)
{
	static const size_t extents[] = {1, 7, 8, 72, 73, 96, 97, 128, 129};
	const size_t count = sizeof(extents) / sizeof(extents[0]);

	for (size_t i = 0; i < count; i++) {
		for (size_t j = 0; j < count; j++) {
			expect_same_bits(extents[i], extents[j],
					 extents[(i + j) % count]);
		}
	}
	msd_pool_stop();
}

Test(product, of_nothing_is_what_it_begins_with)
{
	expect_same_bits(3, 5, 0);
	expect_same_bits(0, 5, 3);
	msd_pool_stop();
}

Test(product, rows_keep_elements_of_every_kind_of_float)
{
	static const struct msd_dtype dtypes[] = {{MSD_DT_FLOAT, 16, 1},
						  {MSD_DT_BFLOAT, 16, 1},
						  {MSD_DT_FLOAT, 32, 1},
						  {MSD_DT_FLOAT, 64, 1}};
	const double values[] = {0, -1.5, 2, 0.25};
	double bytes[4];
	double back[2];

	for (size_t i = 0; i < 4; i++) {
		msd_row_store(dtypes[i], bytes, 0, 4, values);
		msd_row_load(dtypes[i], bytes, 1, 2, 2, back);
		cr_expect_eq(back[0], -1.5);
		cr_expect_eq(back[1], 0.25);
	}
}
