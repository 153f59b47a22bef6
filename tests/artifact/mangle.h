#ifndef MSD_TESTS_MANGLE_H
#define MSD_TESTS_MANGLE_H
/* Damaged variants of well-formed bytes, each in a heap block of its exact size. */
#include "proto/base/bytes.h"

/** What is done with a variant; true when it was accepted. */
typedef bool mangle_read(struct msd_span bytes, void *ctx);

/** Read every proper prefix. Returns how many of them were accepted. */
size_t mangle_prefixes(struct msd_span golden, mangle_read *read, void *ctx);
/** Read with each byte inverted, then with its lowest bit flipped. Whether a variant is
 * accepted does not matter; that none reads past its end is for the sanitizer to say.
 * True when the bytes themselves are accepted, before and behind all of them. */
bool mangle_flips(struct msd_span golden, mangle_read *read, void *ctx);

#endif
