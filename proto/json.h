#ifndef MSD_PROTO_JSON_H
#define MSD_PROTO_JSON_H
/* Strings of JSON for what is written by hand, and what a text has in it before it is
 * read; documents are jansson's. */
#include "proto/bytes.h"

/**
 * Append @s as a JSON string with its quotes. Quotes, backslashes and what may not be
 * shown (utf8.h) are escaped; a byte that is not UTF-8 becomes U+FFFD.
 */
void msd_json_str(struct msd_buf *out, struct msd_span s);
/** The same for a NUL-terminated string; NULL gives null. */
void msd_json_cstr(struct msd_buf *out, const char *text);
/** Append the document @json, of another writer, with what may not be shown escaped,
 * which is in its strings alone. */
void msd_json_put_shown(struct msd_buf *out, struct msd_span json);

/* Signs outside of strings: what reading a text takes grows with them, and much faster
 * than with its bytes. */
struct msd_json_parts {
	size_t n_objects, n_arrays, n_pairs, n_commas;
	size_t depth; /* the most brackets in each other */
};

/** Count those of @text, JSON or not. */
void msd_json_count(struct msd_span text, struct msd_json_parts *ret);

#endif
