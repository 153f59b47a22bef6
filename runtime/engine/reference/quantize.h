#ifndef MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
#define MSD_RUNTIME_ENGINE_REFERENCE_QUANTIZE_H
#include "proto/dtype.h"

/** A whole number as one of @dtype, an integer of at most 16 bits: the nearest that
 * there is. */
double msd_quantized(struct msd_dtype dtype, double v);

#endif
