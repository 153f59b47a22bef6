#ifndef MSD_RUNTIME_ENGINE_NATIVE_QUANTIZED_OPERANDS_H
#define MSD_RUNTIME_ENGINE_NATIVE_QUANTIZED_OPERANDS_H
/* Inputs of quantized operators: bytes, scales and zero points. */
#include "graph/modser_graph.h"
#include "runtime/engine/native/integers.h"
#include "runtime/kernel/kernel.h"

/** True if input @i exists and has integers of 8 bits. */
bool msd_native_is_bytes(const modser_sg_node *node, size_t i);
/** The elements of input @i; 0 if it is missing. */
size_t msd_native_elements(const modser_sg_node *node, size_t i);
/** True if input @i is missing, or is a constant. */
bool msd_native_is_fixed(const modser_sg_node *node, size_t i);
/** True if input @i is missing, or is one float32. */
bool msd_native_is_scale(const modser_sg_node *node, size_t i);
/** True if input @i is missing, or is one integer of 8 bits. */
bool msd_native_is_zero(const modser_sg_node *node, size_t i);
/**
 * True if input @i, a bias of @n elements, is missing, is constant float32, or is
 * constant int32 that a sum of @terms products may have added in 32 bits.
 */
bool msd_native_is_bias(const modser_sg_node *node, size_t i, size_t terms);
/** Bytes at @p of @dtype, with the zero point at @zero (NULL: 0) and a scale. */
struct msd_native_bytes msd_native_bytes_at(struct msd_dtype dtype, const void *p,
					    const void *zero, float scale);
/** Bytes of input @i, with the first zero point of input @zero. */
struct msd_native_bytes msd_native_bytes_in(const struct msd_kernel_call *c, size_t i,
					    size_t zero, float scale);
/** The first float of input @i; 1 if it is missing. */
float msd_native_scale_in(const struct msd_kernel_call *c, size_t i);
/**
 * How floats become elements of output 0 with the zero point of input @zero.
 * @bound_low and @bound_high limit the floats, which are divided by @scale.
 */
struct msd_native_rounding msd_native_rounding_of(const struct msd_kernel_call *c,
						  size_t zero, float bound_low,
						  float bound_high, float scale);
/** True if the values of @n bytes fit into signed bytes. */
bool msd_native_fit(const struct msd_native_bytes *x, size_t n);
/** The sum of the values of @n bytes. */
int64_t msd_native_sum(const struct msd_native_bytes *x, size_t n);

#endif
