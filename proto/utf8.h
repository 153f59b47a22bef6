#ifndef MSD_PROTO_UTF8_H
#define MSD_PROTO_UTF8_H
/*
 * UTF-8 as RFC 3629 has it: shortest forms, no surrogates, nothing above U+10FFFF. A
 * str on the wire must be that; other bytes travel as bin.
 */
#include <stdbool.h>

#include "proto/bytes.h"

/** Bytes of @s before the first ill-formed sequence; s.n when there is none. */
size_t msd_utf8_prefix(struct msd_span s);

/**
 * Bytes of @s before the first character that may not be shown as it is: ill-formed
 * UTF-8, and what a terminal, a log or a page obeys in place of showing it: C0 and DEL,
 * C1 (U+0080 to U+009F), line and paragraph separators and the overrides and isolates
 * of the text's direction (U+2028 to U+202E, U+2066 to U+2069). Each text of another
 * program that is for people goes by this; the caller writes the byte there as its
 * format has it.
 */
size_t msd_utf8_shown(struct msd_span s);
/** The character at the start of @s, which is not empty, and its bytes; U+FFFD and 1
 * where it is ill-formed. */
uint32_t msd_utf8_first(struct msd_span s, size_t *ret_n);

static inline bool msd_utf8_valid(struct msd_span s)
{
	return msd_utf8_prefix(s) == s.n;
}

#endif
