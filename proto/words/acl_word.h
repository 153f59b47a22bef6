#ifndef MSD_PROTO_ACL_WORD_H
#define MSD_PROTO_ACL_WORD_H
/* Tokens of the ACL file (docs/reference/rights.md). The daemon reads it, and `modser
 * acl upgrade` rewrites it. */
#include "proto/base/bytes.h"

#define MSD_ACL_END "end" /* the last line: without it the file is truncated */
#define MSD_ACL_ALL_NAMES "*/*"

/**
 * Read the next token of the line that ends at @stop. *@at is moved past it. Quotes
 * are removed in place; *@ret is empty at the end of the line and at a comment.
 * Returns NULL, or the error of the token.
 */
const char *msd_acl_word_next(char **at, const char *stop, struct msd_span *ret);
/** True if @word is MODULE/FUNCTION, and not a right, an identity or a limit. */
bool msd_acl_word_is_names(struct msd_span word);
/**
 * True if the last line of @text is MSD_ACL_END with its newline. *@ret_begin is the
 * start of that line.
 */
bool msd_acl_text_has_end(struct msd_span text, size_t *ret_begin);

#endif
