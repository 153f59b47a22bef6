#ifndef MSD_RUNTIME_ENGINE_REFERENCE_PRODUCT_H
#define MSD_RUNTIME_ENGINE_REFERENCE_PRODUCT_H
/*
 * Products of matrices, also used by convolutions: y[m, n] is the sum over k of a[m,
 * k] b[k, n]. The caller's functions supply the matrices row by row as doubles, from
 * any element type and location. The sums are doubles, and each adds its products in
 * the order of k. So the bits are the same on any number of threads. They are also
 * the same on any machine, except for elements of float64, where a machine may use
 * fused multiply-add.
 */
#include <stddef.h>

enum { MSD_PRODUCT_INNER = 128 };

struct msd_product {
	size_t n_stacks; /* products of the same extents */
	size_t m;
	size_t n;
	size_t k;
	/*
	 * Products of @inner values of k, which divides @k, are added among themselves
	 * first; at most MSD_PRODUCT_INNER. 0: each product is added to the sum.
	 */
	size_t inner;
	/* Elements (@m, @first .. @first + @count - 1) of matrix a of @stack. */
	void (*a)(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *ret);
	/* Elements (@k, @first .. @first + @count - 1) of matrix b. */
	void (*b)(const void *ctx, size_t stack, size_t k, size_t first, size_t count,
		  double *ret);
	/*
	 * Elements (@first .. @first + @count - 1, @n) of matrix b. Set it if the
	 * columns of b are contiguous; it is then used instead of b(). NULL: they are
	 * not.
	 */
	void (*columns)(const void *ctx, size_t stack, size_t n, size_t first,
			size_t count, double *ret);
	/* Initial values of elements (@m, @first ...) of y; NULL: 0. */
	void (*begin)(const void *ctx, size_t stack, size_t m, size_t first,
		      size_t count, double *ret);
	/* Receives the sums. */
	void (*end)(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		    double *sums);
	const void *ctx;
};

/** Compute the product on the threads of the pool, which call the functions. */
void msd_product_run(const struct msd_product *p);

#endif
