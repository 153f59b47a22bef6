#ifndef MSD_ARTIFACT_PRINTABLE_H
#define MSD_ARTIFACT_PRINTABLE_H
/* Names out of untrusted files, made fit for error texts and for people. */
#include "proto/bytes.h"

#define MSD_PRINTABLE_MAX 96 /* bytes incl. NUL for msd_printable() */

/**
 * @s as printable ASCII in @buf: other bytes become \xNN, a long one ends in "...".
 * Returns @buf.
 */
const char *msd_printable(struct msd_span s, char buf[static MSD_PRINTABLE_MAX]);
/** Append @s to @out; bytes of what may not be shown (proto/utf8.h) become \xNN. */
void msd_printable_put(struct msd_buf *out, struct msd_span s);
/** The same as a text of its own, which the caller frees; NULL: memory is short. */
char *msd_printable_copy(struct msd_span s);

#endif
