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

#endif
