#ifndef MSD_PROTO_ABI_WORD_H
#define MSD_PROTO_ABI_WORD_H
/* User-specified calling convention (ABI) of a library that has no symbol to detect
 * it by, as TVM's C target produces. */
#include <stdbool.h>

#include "proto/base/bytes.h"

enum msd_abi_word {
	MSD_ERA_UNSAID,
	MSD_ERA_SAID_CLASSIC, /* "classic": TVM 0.6 to 0.20 */
	MSD_ERA_SAID_FFI      /* "ffi": TVM 0.21 and later */
};

#define MSD_ERA_WORDS "classic (TVM 0.6 to 0.20) or ffi (0.21 and later)"

/** Parse "classic" or "ffi"; false for any other text. */
MSD_MUST_CHECK bool msd_abi_word_parse(struct msd_span word, enum msd_abi_word *ret);
/** The word; NULL for MSD_ERA_UNSAID. */
const char *msd_abi_word_name(enum msd_abi_word word);

#endif
