#ifndef MSD_RUNTIME_ENGINE_REFERENCE_EXPONENTIAL_H
#define MSD_RUNTIME_ENGINE_REFERENCE_EXPONENTIAL_H
/*
 * exp() of many doubles, for results that are rounded to float32. It is faster than
 * the C library's and less exact. The bits of a result stay those of the C library:
 * if all doubles within the error round to one float32, that one is the result. Else
 * the caller computes it with the C library.
 */
#include <stdbool.h>
#include <stddef.h>

/* Bound of the relative error of msd_exp_near(), with room for a few roundings. */
#define MSD_EXP_ERROR 0x1p-43

/** exp() of the @n elements of @x, in place; limits them to -700 .. 700; NaN stays. */
void msd_exp_near(double *x, size_t n);
/**
 * True if each element of @y rounds to the same float32 with the relative error @error
 * and the absolute error @shift. False if one is NaN.
 */
bool msd_exp_is_sure(const double *y, size_t n, double error, double shift);

#endif
