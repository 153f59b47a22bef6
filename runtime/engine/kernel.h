#ifndef MSD_RUNTIME_ENGINE_KERNEL_H
#define MSD_RUNTIME_ENGINE_KERNEL_H
/*
 * Kernels: what computes one operator on row-major float32 tensors. A kernel is a row
 * in kernels.c and a file in reference/, written to be read and compared with. Shapes
 * are those that inference gave the node's tensors, which has checked them.
 */
#include "graph/modser_graph.h"
#include "proto/diag.h"

struct msd_kernel_call {
	const modser_sg_node *node;
	const float *const *in; /* one for each input; NULL: the node has none there */
	float *const *out;
};

struct msd_kernel {
	const char *op;
	msd_err (*run)(const struct msd_kernel_call *c, struct msd_diag *d);
};

/** The kernel of operator @op; NULL: there is none. */
const struct msd_kernel *msd_kernel_find(const char *op);

/** Extents of input and output @i. */
const int64_t *msd_kernel_in_dims(const struct msd_kernel_call *c, size_t i);
const int64_t *msd_kernel_out_dims(const struct msd_kernel_call *c, size_t i);
size_t msd_kernel_in_ndim(const struct msd_kernel_call *c, size_t i);
/** Elements of a tensor, whose bytes are known to fit. */
size_t msd_kernel_elements(const modser_sg_tensor *t);
size_t msd_kernel_in_elements(const struct msd_kernel_call *c, size_t i);
size_t msd_kernel_out_elements(const struct msd_kernel_call *c, size_t i);
/** A parameter as a number. */
int64_t msd_kernel_int(const struct msd_kernel_call *c, const char *param);
float msd_kernel_float(const struct msd_kernel_call *c, const char *param);

/** Product of the extents before @axis, and of those behind it. */
size_t msd_kernel_outer(const int64_t *dims, size_t axis);
size_t msd_kernel_inner(const int64_t *dims, size_t ndim, size_t axis);
/** @axis of @ndim, counted from behind when it is negative. */
size_t msd_kernel_axis(int64_t axis, size_t ndim);

typedef void msd_kernel_part(const void *ctx, size_t i);
/** Call @part for 0 .. @n - 1 on the threads of the pool, in any order. */
void msd_kernel_each(size_t n, msd_kernel_part *part, const void *ctx);

#endif
