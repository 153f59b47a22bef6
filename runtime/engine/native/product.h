#ifndef MSD_RUNTIME_ENGINE_NATIVE_PRODUCT_H
#define MSD_RUNTIME_ENGINE_NATIVE_PRODUCT_H
/* A stack of products of matrices, divided into parts for threads. */
#include "proto/base/diag.h"
#include "runtime/engine/native/kernels.h"

struct msd_walk;

struct msd_native_stack {
	const struct msd_native_kernels *k;
	struct msd_native_product p; /* of stack 0 */
	/* Where the others lie, in units of the sizes: operands a, b and y. NULL: one
	 * stack. */
	const struct msd_walk *places;
	size_t a_size, b_size, y_size;
	/* The function below sets the others. */
	size_t m_step, m_parts, n_step, n_parts;
	float *scratch;
};

/** Compute @n_stacks products. */
msd_err msd_native_stack_run(struct msd_native_stack *s, size_t n_stacks,
			     struct msd_diag *d);

#endif
