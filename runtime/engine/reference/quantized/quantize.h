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
 * Convert @n sums of a QLinearMatMul or QLinearConv to elements of its output, in
 * place. @a is the row in the first operand's scales; @b is the column in the second's,
 * of the first sum. @step: columns from one sum to the next, 0 or 1. Scaled in
 * float32, as the operators are defined.
 */
void msd_requantize(const struct msd_kernel_call *c, size_t a, size_t b, size_t step,
		    size_t n, double *sums);

#endif
