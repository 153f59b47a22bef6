#ifndef MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
#define MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
/* Quantized numbers, including those of integer products. */
#include "proto/dtype.h"
#include "runtime/kernel/kernel.h"

/** Clamp a whole number to @dtype, an integer of at most 16 bits. */
double msd_quantized(struct msd_dtype dtype, double v);
/**
 * The scale or zero point @input of an integer product, for row or column @i: one
 * number for all, or one for each; @otherwise if it is missing.
 */
double msd_quantized_part(const struct msd_kernel_call *c, size_t input, size_t i,
			  double otherwise);
/**
 * Convert the sum of a QLinearMatMul or QLinearConv to its output; @a and @b are the
 * inputs with the operands' scales. Scaled in float32, as the operators are defined.
 */
double msd_requantized(const struct msd_kernel_call *c, double sum, size_t a, size_t b);

#endif
