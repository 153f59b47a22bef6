#ifndef MSD_TEXT_VALUE_H
#define MSD_TEXT_VALUE_H
/* The value of one field that is no message, from tokens to bytes. */
#include <protobuf-c/protobuf-c.h>

#include "graph/serializer/text/token.h"

/**
 * Append field @f with the value at @t, and move behind it. NULL, or a text: the value
 * that is expected instead.
 */
const char *msd_text_put_value(struct msd_tokens *t, const ProtobufCFieldDescriptor *f,
			       struct msd_buf *out);

#endif
