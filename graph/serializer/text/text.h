#ifndef MSD_TEXT_TEXT_H
#define MSD_TEXT_TEXT_H
/*
 * Protobuf's text form. The text becomes the bytes of the same message, which
 * protobuf-c then reads; its descriptors say which fields there are. Nesting is
 * limited to 100 messages, and nothing grows faster than the text.
 */
#include <protobuf-c/protobuf-c.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

#define MSD_TEXT_MAX_DEPTH 100u

/**
 * Append the bytes of @text, a message of type @is, to @out. A message whose type has
 * no fields is skipped, whatever it contains. -1 with the error of @g, which names the
 * line: a field that the message does not have or has twice, a value of another kind.
 */
MSD_MUST_CHECK int msd_text_read(modser_graph *g, const ProtobufCMessageDescriptor *is,
				 struct msd_span text, struct msd_buf *out);
/**
 * True if @text begins like one: a field of @is that is followed by a value. @text may
 * be cut off anywhere.
 */
bool msd_text_probe(const ProtobufCMessageDescriptor *is, struct msd_span text);

#endif
