#ifndef MSD_PROTO_UTF8_H
#define MSD_PROTO_UTF8_H
/* UTF-8 as in RFC 3629: shortest forms, no surrogates, nothing above U+10FFFF. A str
 * on the wire must be valid UTF-8; other bytes are sent as bin. */
#include <stdbool.h>

#include "proto/base/bytes.h"

/** Bytes of @s before the first ill-formed sequence; s.n if there is none. */
size_t msd_utf8_prefix(struct msd_span s);

/**
 * Bytes of @s before the first character that must not be shown unescaped. These are
 * ill-formed UTF-8, and characters that control a terminal, log or page: C0 and DEL,
 * C1 (U+0080 to U+009F), line and paragraph separators, and bidirectional overrides
 * and isolates (U+2028 to U+202E, U+2066 to U+2069). All foreign text for people is
 * checked with this; the caller escapes the byte in its own format.
 */
size_t msd_utf8_shown(struct msd_span s);
/**
 * The first character of @s, which must not be empty, and its length; U+FFFD and 1 if
 * it is ill-formed.
 */
uint32_t msd_utf8_first(struct msd_span s, size_t *ret_n);

static inline bool msd_utf8_valid(struct msd_span s)
{
	return msd_utf8_prefix(s) == s.n;
}

#endif
