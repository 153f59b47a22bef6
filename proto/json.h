#ifndef MSD_PROTO_JSON_H
#define MSD_PROTO_JSON_H
/* Strings of JSON for what is written by hand; documents are jansson's. */
#include "proto/bytes.h"

/**
 * Append @s as a JSON string with its quotes. Control characters, DEL, quotes and
 * backslashes are escaped; a byte that is not UTF-8 becomes U+FFFD.
 */
void msd_json_str(struct msd_buf *out, struct msd_span s);
/** The same for a NUL-terminated string; NULL gives null. */
void msd_json_cstr(struct msd_buf *out, const char *text);

#endif
