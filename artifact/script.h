#ifndef MSD_ARTIFACT_SCRIPT_H
#define MSD_ARTIFACT_SCRIPT_H
/* Helpers for TVMScript notation in displayed texts: "T.int64(64)" is 64. */
#include <stdbool.h>

#include "proto/base/bytes.h"

/**
 * Take such a constant from the start of @text; *@ret is its digits, with a minus
 * sign if present. False, and @text unchanged, if it starts with no constant.
 */
bool msd_script_take_constant(struct msd_span *text, struct msd_span *ret);
/** Append @text with each constant replaced by its digits. */
void msd_script_put_plain(struct msd_buf *out, struct msd_span text);

#endif
