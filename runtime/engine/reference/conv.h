#ifndef MSD_RUNTIME_ENGINE_REFERENCE_CONV_H
#define MSD_RUNTIME_ENGINE_REFERENCE_CONV_H
/* What convolutions and deconvolution share: their operands, and where an element of
 * the output lies. Private to these. */
#include "graph/op/window.h"
#include "runtime/engine/kernel.h"
#include "runtime/engine/reference/product.h"

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
	size_t group_in; /* channels of input and output in a group */
	size_t group_out;
	size_t in_plane;
	size_t out_plane;
	size_t taps;
	double zero; /* what stands for 0 in x */
};

/** Fill @c, whose axes are there, from @call; not its bias and zero. */
void msd_conv_operands(const struct msd_kernel_call *call, struct msd_conv *c);
/** The channel of the output that is row @m of the group that is @stack's. */
size_t msd_conv_channel(const struct msd_conv *c, size_t stack, size_t m);
/*
 * What a product asks for. Its context is a struct msd_conv, or a struct whose first
 * member is one.
 */
/** Taps @first .. @first + @count - 1 of the kernel that is row @m of the group that is
 * @stack's. */
void msd_conv_kernels(const void *ctx, size_t stack, size_t m, size_t first,
		      size_t count, double *ret);
/** What tap @k, counted from channel to channel of the group that is @stack's, looks at
 * from places @first .. @first + @count - 1 of the output. */
void msd_conv_places(const void *ctx, size_t stack, size_t k, size_t first,
		     size_t count, double *ret);
/** The bias of the channel that is row @m of the group that is @stack's. */
void msd_conv_bias(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		   double *ret);
/** The sums as they are, as elements of @c's type. */
void msd_conv_put(const void *ctx, size_t stack, size_t m, size_t first, size_t count,
		  double *sums);
/** The product that a convolution of @call is, of those above; whoever reads or stores
 * otherwise changes them. @c is its context. */
struct msd_product msd_conv_product(const struct msd_kernel_call *call,
				    const struct msd_conv *c);
/** @count elements, @step apart, of the row of the input that begins at element @row,
 * from its element @from on; -1: the row is padding, as what is outside of it is. */
void msd_conv_line(const struct msd_conv *c, int64_t row, int64_t from, int64_t step,
		   int64_t count, double *ret);
/** Compute the product that the convolution @c is, in the order that suits it. */
void msd_conv_run(const struct msd_conv *c, const struct msd_product *p);
/** Where element @i of a plane of the output lies, an extent an axis. */
void msd_conv_place(const struct msd_conv *c, size_t i, int64_t ret[MSD_OP_AXES]);

#endif
