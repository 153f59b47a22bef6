#ifndef MSD_CLI_NUMBER_H
#define MSD_CLI_NUMBER_H
/* Elements of tensors as text, of every dtype that the protocol carries. */
#include "client/modser.h"
#include "proto/bytes.h"

/** Append @v with the fewest digits that read back as the same float or double; "2.0",
 * "inf", "nan". */
void msd_number_put(struct msd_buf *out, double v, bool is_double);
/**
 * Append lane @i (counted over all lanes) of @t. As JSON: inf and nan are strings, a
 * complex number is an array.
 */
void msd_number_put_element(struct msd_buf *out, const modser_tensor *t, uint64_t i,
			    bool as_json);

/** The bits of @v as the float @t of 8 bits or less, the nearest that there is; of two
 * the even one. False: @t is none, or @v is beyond all that it has. */
bool msd_number_small_bits(modser_dtype t, double v, uint8_t *ret);
/** Put the lowest @width bits of @bits at bit @at of @data, which are 0. */
void msd_number_put_bits(uint8_t *data, uint64_t at, unsigned width, uint64_t bits);

#endif
