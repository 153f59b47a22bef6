#ifndef MSD_RUNTIME_VALUE_BIG_INT_H
#define MSD_RUNTIME_VALUE_BIG_INT_H
/* Integers of more than 64 bits, which only libraries compute with. */
#include "runtime/value/error.h"

/**
 * An integer of whole 64-bit words, the lowest first, in two's complement. One that
 * fits in 64 bits is an int. Returns 0, or -1 with the error raised.
 */
int msd_big_int_new(const struct msd_bytes *words, struct msd_any *ret);
/** The words of an int or a big int, borrowed from @v; none for other values. */
struct msd_bytes msd_big_int_words(const struct msd_any *v);

#endif
