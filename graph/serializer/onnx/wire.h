#ifndef MSD_ONNX_WIRE_H
#define MSD_ONNX_WIRE_H
/*
 * Preprocess the bytes of an ONNX file for protobuf-c. Lengths, nesting and the
 * number of fields are limited here, because protobuf-c would allocate as much as a
 * file requests. The result is a smaller message with the same content except for
 * weights: each raw_data is replaced by the location of its bytes in the file.
 */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

#define ONNX_PLACE_BYTES 16u /* u64 offset in the file, u64 number of bytes */
#define ONNX_MAX_FIELDS (8u << 20)

/* Number of bytes reserved for the length of a message, which is filled in later.
 * Other readers accept at most five, for messages below 2 GiB. */
enum onnx_lengths { ONNX_SHORT_LENGTHS = 5, ONNX_LONG_LENGTHS = 10 };

/** Scan @file and append the smaller message to @out. -1 with the error of @g. */
MSD_MUST_CHECK int onnx_wire_trim(modser_graph *g, struct msd_span file,
				  struct msd_buf *out);
/**
 * The other use of the scan: append all of @file to @out, but pass each tensor's
 * message to @tensor. It writes a replacement, or nothing: then the message is copied
 * unchanged. -1 with the error of @g.
 */
typedef int onnx_wire_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
			     bool *ret_is_written);
MSD_MUST_CHECK int onnx_wire_copy(modser_graph *g, struct msd_span file,
				  enum onnx_lengths lengths, onnx_wire_tensor *tensor,
				  void *ctx, struct msd_buf *out);
/* Fields of a TensorProto with the location of its bytes. */
enum { ONNX_RAW_DATA = 9, ONNX_EXTERNAL_DATA = 13, ONNX_DATA_LOCATION = 14 };
/** Append @tensor, a scanned message, without these fields. */
void onnx_wire_put_others(struct msd_buf *out, struct msd_span tensor);
/* A field of a message. */
struct onnx_field {
	uint32_t number;
	uint32_t type; /* 0: `value` is set; 2: `body` is set */
	size_t n;      /* bytes of body, all present */
	const uint8_t *body;
	uint64_t value;
};
/** Take the next field; false if it is invalid, or extends past @c. */
MSD_MUST_CHECK bool onnx_field_take(struct msd_cur *c, struct onnx_field *ret);
/** True if @head, the first bytes of a file, begins like an ONNX model. */
bool onnx_wire_probe(struct msd_span head);

#endif
