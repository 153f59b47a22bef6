#ifndef MSD_CLI_NUMBER_H
#define MSD_CLI_NUMBER_H
/* Formats elements of tensors as text, for every dtype of the protocol. */
#include "client/modser.h"
#include "proto/base/bytes.h"

/** Append @v with the fewest digits that read back as the same float or double; "2.0",
 * "inf", "nan". */
void msd_number_put(struct msd_buf *out, double v, bool is_double);
/**
 * Append lane @i (counted over all lanes) of @t. As JSON: inf and nan are strings, a
 * complex number is an array.
 */
void msd_number_put_element(struct msd_buf *out, const modser_tensor *t, uint64_t i,
			    bool as_json);

/**
 * Round @v to the nearest value of the float @t of 8 bits or less, ties to even, and
 * return its bits. False: @t is not such a float, or @v is out of range.
 */
bool msd_number_small_bits(modser_dtype t, double v, uint8_t *ret);
/**
 * Store the lowest @width bits of @bits at bit @at of @data, where the bits must be
 * 0.
 */
void msd_number_put_bits(uint8_t *data, uint64_t at, unsigned width, uint64_t bits);

#endif
