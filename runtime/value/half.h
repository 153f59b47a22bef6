#ifndef MSD_RUNTIME_VALUE_HALF_H
#define MSD_RUNTIME_VALUE_HALF_H
/* Conversion of IEEE half floats by bits, rounded to nearest even; NaNs stay NaNs. */
#include <stdint.h>

/* IEEE binary16, rounded to the nearest, ties to even; NaN stays NaN. */
uint16_t msd_half_from_float(float v);
uint16_t msd_half_from_double(double v);
float msd_half_to_float(uint16_t v);

#endif
