#ifndef MSD_HTTP_INFER_WIDE_H
#define MSD_HTTP_INFER_WIDE_H
/*
 * Numbers that jansson cannot hold: integers beyond 64 bits signed, as UINT64 has,
 * and values beyond a double. Such numbers are rewritten as strings with a leading
 * NUL, which no other string of the text has.
 */
#include "proto/base/bytes.h"

struct json_t;

/**
 * Append @text with each such number as a string. False if there is none, or if
 * another string could be mistaken for one; then discard the appended text.
 */
MSD_MUST_CHECK bool msd_infer_wide_write(struct msd_span text, struct msd_buf *out);
/** The number in the string @v, NUL-terminated; n is 0 if @v is none. */
struct msd_span msd_infer_wide_number(const struct json_t *v);

#endif
