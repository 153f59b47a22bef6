#ifndef MSD_RUNTIME_ENGINE_REFERENCE_GATES_H
#define MSD_RUNTIME_ENGINE_REFERENCE_GATES_H
/*
 * The weights of a recurrent layer's gates times a vector. Product k of a row is added
 * to sum k % 8 of the row; the eight sums are added at the end.
 */
#include <stddef.h>

#include "proto/dtype.h"

struct msd_gates {
	struct msd_dtype dtype; /* of the weights */
	const void *weights;
	size_t first; /* element at which the first row begins */
	size_t n;     /* elements of a row */
	const double *x;
	double *ret; /* one per row */
};

/** Multiply @rows rows, on the threads of the pool if they are many. */
void msd_gates_multiply(const struct msd_gates *g, size_t rows);

#endif
