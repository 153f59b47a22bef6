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

static inline bool msd_utf8_valid(struct msd_span s)
{
	return msd_utf8_prefix(s) == s.n;
}

#endif
