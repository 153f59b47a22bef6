#ifndef MSD_RUNTIME_ENGINE_REFERENCE_CONV_H
#define MSD_RUNTIME_ENGINE_REFERENCE_CONV_H
/* Shared by convolutions and deconvolution: their operands, and the position of an
 * output element. Private to these. */
#include "graph/op/window/window.h"
#include "runtime/engine/reference/layer/product.h"
#include "runtime/kernel/kernel.h"

enum { MSD_CONV_DEPTH, MSD_CONV_HEIGHT, MSD_CONV_WIDTH };

struct msd_conv {
	struct msd_dtype dtype;
	const void *x;
	const void *w;
	const void *bias; /* NULL: none */
	void *y;
	struct msd_op_window axes[MSD_OP_AXES];
	size_t in_channels;
	size_t channels;
	struct msd_dtype w_dtype;
	size_t n_groups;
	size_t group_in; /* channels of input and output per group */
	size_t group_out;
	size_t in_plane;
	size_t out_plane;
	size_t taps;
	double zero; /* zero point of x */
};

/** Fill @c from @call; its axes must be set. Does not set bias and zero. */
void msd_conv_operands(const struct msd_kernel_call *call, int64_t group,
		       struct msd_conv *c);
/** The output channel of row @m of the group of @stack. */
size_t msd_conv_channel(const struct msd_conv *c, size_t stack, size_t m);
/* Callbacks of a product. The context is a struct msd_conv, or a struct with one as
 * its first member. */
/** Taps @first .. @first + @count - 1 of the kernel in row @m of the group of @stack.
 */
void msd_conv_kernels(const void *ctx, size_t stack, size_t m, size_t first,
		      size_t count, double *ret);
/**
 * Input elements that tap @k reads for output positions @first .. @first + @count -
 * 1. Taps are counted across the channels of the group of @stack.
 */
void msd_conv_places(const void *ctx, size_t stack, size_t k, size_t first,
		     size_t count, double *ret);
/** The bias of the channel in row @m of the group of @stack. */
void msd_conv_bias(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		   double *ret);
/** Store the sums unchanged, converted to @c's type. */
void msd_conv_put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *sums);
/**
 * The product that computes the convolution of @call with the functions above; a
 * caller that reads or stores differently replaces them. @c is its context.
 */
struct msd_product msd_conv_product(const struct msd_kernel_call *call,
				    const struct msd_conv *c);
/**
 * Load @count elements with a stride of @step from the input row at element @row,
 * starting at its element @from. @row -1: the row is padding; elements outside the
 * row are padding, too.
 */
void msd_conv_line(const struct msd_conv *c, int64_t row, int64_t from, int64_t step,
		   int64_t count, double *ret);
/** Compute the convolution @c by its product, in the most suitable order. */
void msd_conv_run(const struct msd_conv *c, const struct msd_product *p);
/** Position of element @i of an output plane, one coordinate per axis. */
void msd_conv_place(const struct msd_conv *c, size_t i, int64_t ret[MSD_OP_AXES]);

#endif
