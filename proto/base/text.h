#ifndef MSD_PROTO_TEXT_H
#define MSD_PROTO_TEXT_H
/* Fast formatting of texts and numbers for each call, without printf. */
#include <string.h>

#include "proto/base/bytes.h"

/** Append the bytes of @text without its NUL. */
static inline void msd_text_put(struct msd_buf *b, const char *text)
{
	msd_buf_put(b, text, strlen(text));
}
/** Append the digits of @v. */
void msd_text_decimal(struct msd_buf *b, uint64_t v);
/** Append @v as "%.9g" has it, with which the same bits are read back. */
void msd_text_float(struct msd_buf *b, float v);

#endif
