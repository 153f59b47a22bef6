#ifndef MSD_RUNTIME_ENGINE_KERNEL_H
#define MSD_RUNTIME_ENGINE_KERNEL_H
/*
 * Kernels: each computes one operator on row-major tensors. A kernel is a row in
 * kernels.h and a file in reference/, written to be readable and to serve as a
 * reference. Inference has set and checked the shapes and dtypes of the node's
 * tensors.
 */
#include <modserd_plugin.h>

#include "graph/modser_graph.h"
#include "proto/base/diag.h"
#include "proto/dtype.h"

struct msd_kernel_call {
	const modser_sg_node *node;
	const void *const *in; /* one per input; NULL: the node lacks this input */
	void *const *out;      /* NULL: the output is not requested */
	/* As in modserd_kernel_call. NULL: all are row-major. */
	const modserd_layout *const *in_layouts;
	const modserd_layout *const *out_layouts;
};

/* Element types that a kernel can read. Inference checks differences between its
 * inputs. */
enum msd_kernel_takes {
	MSD_TAKES_FLOAT32,       /* all inputs are float32 */
	MSD_TAKES_FLOAT32_FIRST, /* input 0 is float32; inference has checked the other
				    inputs */
	MSD_TAKES_FLOATS,        /* input 0 is float16, bfloat16, float32 or float64 */
	MSD_TAKES_FLOATS_ALONE,  /* every input is such a float */
	MSD_TAKES_NUMBERS,       /* input 0 is a float, an integer or bool */
	MSD_TAKES_SMALL,         /* a number, or a type of proto/small.h */
	MSD_TAKES_BYTES          /* it moves whole elements of any type */
};

struct msd_kernel {
	const char *op;
	msd_err (*run)(const struct msd_kernel_call *c, struct msd_diag *d);
	enum msd_kernel_takes takes;
};

/** The kernel of operator @op; NULL if there is none. */
const struct msd_kernel *msd_kernel_find(const char *op);
/** True if operator @op has a built-in kernel. */
bool msd_kernel_is_own(const char *op);
/**
 * Register a plugin's kernel, as modserd_host.add_kernel of modserd_plugin.h
 * specifies.
 */
int msd_kernel_register(const modserd_kernel *kernel);

/**
 * Compute one node with constant inputs before any run, for a pass. Uses a built-in
 * kernel, so the result is always the same.
 */
bool msd_kernel_compute(const modser_sg_node *node, const void *const *in,
			void *const *out);

/**
 * Check that @kernel can read the inputs of @node, which have known dtypes. The error
 * names the first input that it cannot read.
 */
MSD_MUST_CHECK msd_err msd_kernel_check(const struct msd_kernel *kernel,
					const modser_sg_node *node, struct msd_diag *d);

/** True if input @i exists. */
bool msd_kernel_has(const struct msd_kernel_call *c, size_t i);
/** Input and output @i for kernels of float32. */
const float *msd_kernel_in(const struct msd_kernel_call *c, size_t i);
float *msd_kernel_out(const struct msd_kernel_call *c, size_t i);
struct msd_dtype msd_kernel_in_dtype(const struct msd_kernel_call *c, size_t i);
struct msd_dtype msd_kernel_out_dtype(const struct msd_kernel_call *c, size_t i);
/** Size of an element of input 0 in bytes. */
size_t msd_kernel_size(const struct msd_kernel_call *c);
/** Extents of input and output @i. */
const int64_t *msd_kernel_in_dims(const struct msd_kernel_call *c, size_t i);
const int64_t *msd_kernel_out_dims(const struct msd_kernel_call *c, size_t i);
size_t msd_kernel_in_ndim(const struct msd_kernel_call *c, size_t i);
size_t msd_kernel_out_ndim(const struct msd_kernel_call *c, size_t i);
/** Number of elements of an input or output, which is known to fit. */
size_t msd_kernel_in_elements(const struct msd_kernel_call *c, size_t i);
size_t msd_kernel_out_elements(const struct msd_kernel_call *c, size_t i);
/**
 * Read element @k of input @i as a double, for any type; msd_kernel_put() writes a
 * double to element @k of output @i.
 */
double msd_kernel_get(const struct msd_kernel_call *c, size_t i, size_t k);
void msd_kernel_put(const struct msd_kernel_call *c, size_t i, size_t k, double v);
/**
 * Index @k of input @i, which has int32 or int64, into @n positions. A negative index
 * counts from the end; an index out of range is an error.
 */
MSD_MUST_CHECK msd_err msd_kernel_index(const struct msd_kernel_call *c, size_t i,
					int64_t k, int64_t n, int64_t *ret,
					struct msd_diag *d);

/** Product of the extents before @axis, and of those after it. */
size_t msd_kernel_outer(const int64_t *dims, size_t axis);
size_t msd_kernel_inner(const int64_t *dims, size_t ndim, size_t axis);
/** @axis of @ndim; a negative axis counts from the end. */
size_t msd_kernel_axis(int64_t axis, size_t ndim);

typedef void msd_kernel_part(const void *ctx, size_t i);
/**
 * Call @part for 0 .. @n - 1 on the threads of the pool, in any order. @part_ns is the
 * estimated time of one part: a thread is woken for at least MSD_KERNEL_GRAIN_NS of
 * work, and results do not depend on how many are. Fewer parts run on the caller's.
 */
void msd_kernel_each(size_t n, size_t part_ns, msd_kernel_part *part, const void *ctx);
#define MSD_KERNEL_GRAIN_NS 20000u /* waking a thread takes several microseconds */

#endif
