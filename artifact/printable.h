#ifndef MSD_ARTIFACT_PRINTABLE_H
#define MSD_ARTIFACT_PRINTABLE_H
/* Make names from untrusted files printable, for error texts and users. */
#include "proto/base/bytes.h"

#define MSD_PRINTABLE_MAX 96 /* bytes incl. NUL for msd_printable() */

/**
 * @s as printable ASCII in @buf: other bytes become \xNN, a long one ends in "...".
 * Returns @buf.
 */
const char *msd_printable(struct msd_span s, char buf[static MSD_PRINTABLE_MAX]);
/** Append @s to @out; unprintable bytes (proto/base/utf8.h) become \xNN. */
void msd_printable_put(struct msd_buf *out, struct msd_span s);
/** The same as a new string; the caller frees it. NULL: memory is short. */
char *msd_printable_copy(struct msd_span s);

#endif
