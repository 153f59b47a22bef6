#ifndef MSD_HTTP_INFER_WIDE_H
#define MSD_HTTP_INFER_WIDE_H
/*
 * Numbers that jansson has no room for: integers beyond 64 bits with a sign, as UINT64
 * has them, and what no double holds. Where a text has some they are read as texts,
 * which begin with a NUL as no other one in it does.
 */
#include "proto/bytes.h"

struct json_t;

/** Append @text with each such number as a text. False: there is none, or one could be
 * taken for another text; nothing that is appended is good then. */
MSD_MUST_CHECK bool msd_infer_wide_write(struct msd_span text, struct msd_buf *out);
/** The number that @v is one of, with a NUL behind it; n is 0: it is none. */
struct msd_span msd_infer_wide_number(const struct json_t *v);

#endif
