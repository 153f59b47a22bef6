#ifndef MSD_RUNTIME_ENGINE_KERNELS_H
#define MSD_RUNTIME_ENGINE_KERNELS_H
/* The kernels of the reference engine: a row each. */
#include "runtime/engine/kernel.h"

#define MSD_KERNELS(X)                                                                 \
	X(batch_normalization)                                                         \
	X(broad_mul)                                                                   \
	X(concat)                                                                      \
	X(convolution)                                                                 \
	X(crop)                                                                        \
	X(dropout)                                                                     \
	X(eltwise)                                                                     \
	X(flatten)                                                                     \
	X(fully_connected)                                                             \
	X(interp)                                                                      \
	X(lrn)                                                                         \
	X(permute)                                                                     \
	X(pooling)                                                                     \
	X(prelu)                                                                       \
	X(prior_box)                                                                   \
	X(relu)                                                                        \
	X(relu6)                                                                       \
	X(reshape)                                                                     \
	X(shuffle_channel)                                                             \
	X(slice)                                                                       \
	X(softmax)                                                                     \
	X(upsample)

#define MSD_KERNEL_DECLARE(name) extern const struct msd_kernel msd_kernel_##name;
MSD_KERNELS(MSD_KERNEL_DECLARE)
#undef MSD_KERNEL_DECLARE

#endif
