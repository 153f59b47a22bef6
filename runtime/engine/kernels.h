#ifndef MSD_RUNTIME_ENGINE_KERNELS_H
#define MSD_RUNTIME_ENGINE_KERNELS_H
/* The kernels of the reference engine: a row each. */
#include "runtime/engine/kernel.h"

#define MSD_KERNELS(X)                                                                 \
	X(absval)                                                                      \
	X(acos)                                                                        \
	X(acosh)                                                                       \
	X(add)                                                                         \
	X(addn)                                                                        \
	X(arg_max)                                                                     \
	X(arg_min)                                                                     \
	X(asin)                                                                        \
	X(asinh)                                                                       \
	X(atan)                                                                        \
	X(atanh)                                                                       \
	X(batch_normalization)                                                         \
	X(broad_mul)                                                                   \
	X(cast)                                                                        \
	X(ceil)                                                                        \
	X(celu)                                                                        \
	X(clip)                                                                        \
	X(comparison)                                                                  \
	X(concat)                                                                      \
	X(convolution)                                                                 \
	X(cos)                                                                         \
	X(cosh)                                                                        \
	X(crop)                                                                        \
	X(deconvolution)                                                               \
	X(depth_to_space)                                                              \
	X(div)                                                                         \
	X(dropout)                                                                     \
	X(eltwise)                                                                     \
	X(elu)                                                                         \
	X(erf)                                                                         \
	X(exp)                                                                         \
	X(expand)                                                                      \
	X(flatten)                                                                     \
	X(floor)                                                                       \
	X(fully_connected)                                                             \
	X(gather)                                                                      \
	X(gemm)                                                                        \
	X(gru)                                                                         \
	X(hard_swish)                                                                  \
	X(hardmax)                                                                     \
	X(hardsigmoid)                                                                 \
	X(instance_norm)                                                               \
	X(interp)                                                                      \
	X(layer_norm)                                                                  \
	X(log)                                                                         \
	X(log_softmax)                                                                 \
	X(logical)                                                                     \
	X(lrn)                                                                         \
	X(lstm)                                                                        \
	X(mat_mul)                                                                     \
	X(maximum)                                                                     \
	X(mean)                                                                        \
	X(minimum)                                                                     \
	X(mul)                                                                         \
	X(neg)                                                                         \
	X(noop)                                                                        \
	X(not )                                                                        \
	X(pad)                                                                         \
	X(permute)                                                                     \
	X(pooling)                                                                     \
	X(pow)                                                                         \
	X(prelu)                                                                       \
	X(prior_box)                                                                   \
	X(reciprocal)                                                                  \
	X(reduction)                                                                   \
	X(relu)                                                                        \
	X(relu6)                                                                       \
	X(reshape)                                                                     \
	X(resize)                                                                      \
	X(rnn)                                                                         \
	X(round)                                                                       \
	X(selu)                                                                        \
	X(shape)                                                                       \
	X(shuffle_channel)                                                             \
	X(sigmoid)                                                                     \
	X(sign)                                                                        \
	X(sin)                                                                         \
	X(sinh)                                                                        \
	X(slice)                                                                       \
	X(softmax)                                                                     \
	X(softplus)                                                                    \
	X(softsign)                                                                    \
	X(space_to_depth)                                                              \
	X(split)                                                                       \
	X(sqrt)                                                                        \
	X(squared_difference)                                                          \
	X(squeeze)                                                                     \
	X(sub)                                                                         \
	X(tan)                                                                         \
	X(tanh)                                                                        \
	X(tile)                                                                        \
	X(topk_v2)                                                                     \
	X(transpose)                                                                   \
	X(unsqueeze)                                                                   \
	X(upsample)                                                                    \
	X(where)

#define MSD_KERNEL_DECLARE(name) extern const struct msd_kernel msd_kernel_##name;
MSD_KERNELS(MSD_KERNEL_DECLARE)
#undef MSD_KERNEL_DECLARE

#endif
