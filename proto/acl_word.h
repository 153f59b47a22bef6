#ifndef MSD_PROTO_ACL_WORD_H
#define MSD_PROTO_ACL_WORD_H
/* The words of a file of rights (docs/rights.md), for the daemon, which reads it, and
 * for `modser acl upgrade`, which rewrites it. */
#include "proto/bytes.h"

#define MSD_ACL_END "end" /* the last line: a file without it was cut */
#define MSD_ACL_ALL_NAMES "*/*"

/**
 * Read the next word of the line that ends at @stop, from *@at, which moves behind it.
 * The word loses its quotes in place; *@ret is empty at the end of the line and at a
 * comment. Returns NULL, or what is wrong with the word.
 */
const char *msd_acl_word_next(char **at, const char *stop, struct msd_span *ret);
/** Is @word MODULE/FUNCTION, and no right, identity or limit? */
bool msd_acl_word_is_names(struct msd_span word);
/** Is the last line of @text MSD_ACL_END, with its newline? *@ret_begin is where that
 * line begins. */
bool msd_acl_text_has_end(struct msd_span text, size_t *ret_begin);

#endif
