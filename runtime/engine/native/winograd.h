#ifndef MSD_RUNTIME_ENGINE_NATIVE_WINOGRAD_H
#define MSD_RUNTIME_ENGINE_NATIVE_WINOGRAD_H
/* Convolutions with kernels of 3 x 3 and strides of 1, by fewer products. */
#include <stdbool.h>

#include "runtime/engine/native/kernels.h"

/** Floats of the packed kernels of a convolution. */
size_t msd_native_winograd_floats(size_t channels, size_t in_channels);
/**
 * Pack kernels @w, by output channel, input channel, row and column. @factors: one per
 * output channel, or NULL. False: an element is too large, or memory is short.
 */
bool msd_native_winograd_pack(const float *w, const float *factors, size_t channels,
			      size_t in_channels, float *ret);

/** False: an element of @x is too large, or not finite. */
bool msd_native_winograd_takes(const float *x, size_t n);

struct msd_native_winograd_run {
	size_t channels, in_channels;
	size_t in[2], before[2], out[2]; /* rows and columns */
	const float *weights;            /* packed */
	const float *start;              /* one per channel */
	const float *x;                  /* of one image; takes() is true */
	const float *residual;           /* or NULL */
	struct msd_native_finish finish;
	float *y;
};

/** False: memory is short. */
bool msd_native_winograd_convolve(const struct msd_native_winograd_run *r);

#endif
