#ifndef MSD_RUNTIME_ENGINE_REFERENCE_PRODUCT_H
#define MSD_RUNTIME_ENGINE_REFERENCE_PRODUCT_H
/*
 * Products of matrices, which convolutions are, too: y[m, n] is the sum over k of
 * a[m, k] b[k, n]. Whoever has the matrices gives them row by row as doubles, from
 * whatever elements and places they are; the sums are doubles, and each adds its
 * products in the order of k. So they have the same bits on any number of threads, and,
 * but for elements of float64, which a machine may multiply and add in one step, on any
 * machine.
 */
#include <stddef.h>

struct msd_product {
	size_t n_stacks; /* products of the same extents */
	size_t m;
	size_t n;
	size_t k;
	/* Elements (@m, @first .. @first + @count - 1) of matrix a of @stack. */
	void (*a)(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret);
	/* Elements (@k, @first .. @first + @count - 1) of matrix b. */
	void (*b)(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret);
	/* Elements (@first .. @first + @count - 1, @n) of matrix b: of one whose
	 * columns lie one behind the other, which is asked for these instead. NULL: it
	 * is not.
	 */
	void (*columns)(const void *ctx, size_t stack, size_t n, size_t first,
			size_t count, double *ret);
	/* What elements (@m, @first ...) of y begin with; NULL: 0. */
	void (*begin)(const void *ctx, size_t stack, size_t m, size_t first,
		      size_t count, double *ret);
	/* These are the sums. */
	void (*end)(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		    double *sums);
	const void *ctx;
};

/** Compute it on the threads of the pool, whose parts call the functions. */
void msd_product_run(const struct msd_product *p);

#endif
