#ifndef MSD_WIRE_WIRE_H
#define MSD_WIRE_WIRE_H
/*
 * Preprocess the bytes of a protobuf file for protobuf-c. Lengths, nesting and the
 * number of fields are limited here, because protobuf-c would allocate as much as a
 * file requests. The result is a smaller message with the same content except for
 * weights: each of them is replaced by the location of its bytes in the file. The
 * descriptors of protobuf-c say which fields are messages.
 */
#include <protobuf-c/protobuf-c.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

#define MSD_WIRE_PLACE_BYTES 16u /* u64 offset in the file, u64 number of bytes */
#define MSD_WIRE_MAX_FIELDS (8u << 20)

/* Number of bytes reserved for the length of a message, which is filled in later.
 * Other readers accept at most five, for messages below 2 GiB. */
enum msd_wire_lengths { MSD_WIRE_SHORT_LENGTHS = 5, MSD_WIRE_LONG_LENGTHS = 10 };

/* A field whose bytes stay in the file; its message declares it as bytes. A file may
 * also have single numbers of fixed size there; each becomes a location of its own. */
struct msd_wire_weight {
	const ProtobufCMessageDescriptor *in;
	uint32_t field;
};

/* A format whose files are one message. */
struct msd_wire_format {
	const char *name; /* in texts: "ONNX" */
	const ProtobufCMessageDescriptor *root;
	const struct msd_wire_weight *weights;
	size_t n_weights;
};

/** Scan @file and append the smaller message to @out. -1 with the error of @g. */
MSD_MUST_CHECK int msd_wire_trim(modser_graph *g, const struct msd_wire_format *format,
				 struct msd_span file, struct msd_buf *out);
/**
 * The other use of the scan: append all of @file to @out, but pass each message of
 * type @is to @replace. It writes a replacement, or nothing: then the message is
 * copied unchanged. -1 with the error of @g.
 */
typedef int msd_wire_replace(void *ctx, struct msd_span message, struct msd_buf *out,
			     bool *ret_is_written);
struct msd_wire_hook {
	const ProtobufCMessageDescriptor *is;
	msd_wire_replace *replace;
	void *ctx;
};
MSD_MUST_CHECK int msd_wire_copy(modser_graph *g, const struct msd_wire_format *format,
				 struct msd_span file, enum msd_wire_lengths lengths,
				 const struct msd_wire_hook *hook, struct msd_buf *out);

enum msd_wire_type {
	MSD_WIRE_VARINT = 0,
	MSD_WIRE_FIXED64 = 1,
	MSD_WIRE_BYTES = 2,
	MSD_WIRE_FIXED32 = 5
};
/* A field of a message. */
struct msd_wire_field {
	uint32_t number;
	uint32_t type; /* msd_wire_type */
	size_t n;      /* bytes of body, all present; not for a varint */
	const uint8_t *body;
	uint64_t value; /* of a varint */
};
/**
 * Take the next field; false if it is invalid, or extends past @c: then ret->n is more
 * than @c has left.
 */
MSD_MUST_CHECK bool msd_wire_take(struct msd_cur *c, struct msd_wire_field *ret);
/** Read the location that stands for weight @field; false if it is not in @file. */
MSD_MUST_CHECK bool msd_wire_place(const ProtobufCBinaryData *field,
				   struct msd_span file, struct msd_span *ret);

/* Write fields. */
/** Read a varint. False if it is longer than 64 bits, or @c ends. */
bool msd_wire_take_varint(struct msd_cur *c, uint64_t *ret);
void msd_wire_put_varint(struct msd_buf *out, uint64_t v);
void msd_wire_put_tag(struct msd_buf *out, uint32_t number, enum msd_wire_type type);
/**
 * Reserve room for the length of a message, and fill it in when the message that
 * begins at the result is complete. False: it is too large.
 */
size_t msd_wire_begin(struct msd_buf *out, unsigned lengths);
MSD_MUST_CHECK bool msd_wire_end(struct msd_buf *out, unsigned lengths, size_t at);

#endif
