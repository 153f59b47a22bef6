#ifndef MSD_PROTO_HALF_H
#define MSD_PROTO_HALF_H
/* Floats of 16 bits by their bits, rounded to nearest even; NaNs stay NaNs. */
#include <stdint.h>

/* IEEE binary16, rounded to the nearest, ties to even; NaN stays NaN. */
uint16_t msd_half_from_float(float v);
uint16_t msd_half_from_double(double v);
float msd_half_to_float(uint16_t v);
/* bfloat16: the upper half of a float. */
uint16_t msd_bfloat_from_float(float v);

#endif
