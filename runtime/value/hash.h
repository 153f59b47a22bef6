#ifndef MSD_RUNTIME_VALUE_HASH_H
#define MSD_RUNTIME_VALUE_HASH_H
/* Hashes and equality of values as tvm-ffi's containers use them. They are a part of
 * its ABI: a library finds a key in our map by its own copy of this code. */
#include "runtime/value/value.h"

uint64_t msd_hash_bytes(const char *p, size_t n);
/** The hash of a key. Types with a hash function of their own are not supported. */
uint64_t msd_hash_any(const struct msd_any *key);
/** True for equal numbers and texts, or the same object. */
bool msd_any_equal(const struct msd_any *a, const struct msd_any *b);

#endif
