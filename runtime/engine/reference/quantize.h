#ifndef MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
#define MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
/* Quantized numbers, of products of integers among them. */
#include "proto/dtype.h"
#include "runtime/engine/kernel.h"

/** A whole number as one of @dtype, an integer of at most 16 bits: the nearest that
 * there is. */
double msd_quantized(struct msd_dtype dtype, double v);
/** The scale or zero point @input of a product of integers, of row or column @i: one
 * number for all, or one for each; @otherwise when it is left out. */
double msd_quantized_part(const struct msd_kernel_call *c, size_t input, size_t i,
			  double otherwise);
/** The sum of a QLinearMatMul or QLinearConv in place @a, @b of its operands' scales as
 * what it gives: scaled in float32, as their definition has it. */
double msd_requantized(const struct msd_kernel_call *c, double sum, size_t a, size_t b);

#endif
