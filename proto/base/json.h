#ifndef MSD_PROTO_JSON_H
#define MSD_PROTO_JSON_H
/* Write JSON strings, and count the structure of a text before it is parsed; jansson
 * handles documents. */
#include "proto/base/bytes.h"

/**
 * Append @s as a JSON string with quotes. Quotes, backslashes and unprintable
 * characters (utf8.h) are escaped; a byte that is not UTF-8 becomes U+FFFD.
 */
void msd_json_str(struct msd_buf *out, struct msd_span s);
/** The same for a NUL-terminated string; NULL gives null. */
void msd_json_cstr(struct msd_buf *out, const char *text);
/**
 * Append @json, a document from another writer, with unprintable characters escaped;
 * they occur only in its strings.
 */
void msd_json_put_shown(struct msd_buf *out, struct msd_span json);

/* Structural characters outside strings: the memory of a parser grows with them, much
 * faster than with bytes. */
struct msd_json_parts {
	size_t n_objects, n_arrays, n_pairs, n_commas;
	size_t depth; /* maximum nesting of brackets */
};

/** Count those of @text, which may be invalid JSON. */
void msd_json_count(struct msd_span text, struct msd_json_parts *ret);

#endif
