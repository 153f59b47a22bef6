#ifndef MSD_PROTO_ABI_WORD_H
#define MSD_PROTO_ABI_WORD_H
/* User-specified calling convention (ABI) of a library that has no symbol to detect
 * it by, as TVM's C target produces. */
#include "proto/words/word_list.h"

enum msd_abi_word {
	MSD_ERA_UNSAID,
	MSD_ERA_SAID_CLASSIC, /* "classic": TVM 0.6 to 0.20 */
	MSD_ERA_SAID_FFI      /* "ffi": TVM 0.21 and later */
};

#define MSD_ERA_WORDS "classic (TVM 0.6 to 0.20) or ffi (0.21 and later)"

extern const struct msd_word_list msd_abi_words;

/** The word; NULL for MSD_ERA_UNSAID. */
static inline const char *msd_abi_word_name(enum msd_abi_word word)
{
	return msd_abi_words.words[word];
}

#endif
