#ifndef MSD_ARTIFACT_SCRIPT_H
#define MSD_ARTIFACT_SCRIPT_H
/* What only TVMScript needs in texts that people read: "T.int64(64)" is 64. */
#include <stdbool.h>

#include "proto/bytes.h"

/** Cut such a constant off the head of @text; *@ret are its digits, a minus in front of
 * them included. False, and nothing cut, where none begins. */
bool msd_script_take_constant(struct msd_span *text, struct msd_span *ret);
/** Append @text with each constant as its digits. */
void msd_script_put_plain(struct msd_buf *out, struct msd_span text);

#endif
