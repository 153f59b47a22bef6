#ifndef MSD_ONNX_WIRE_H
#define MSD_ONNX_WIRE_H
/*
 * The bytes of an ONNX file before protobuf-c sees them. Lengths, nesting and the
 * number of fields are bounded here, for protobuf-c would allocate whatever a file asks
 * for. What comes out is a smaller message, which says the same but for the weights:
 * each raw_data is replaced by the place of its bytes in the file.
 */
#include "graph/modser_graph.h"
#include "proto/bytes.h"

#define ONNX_PLACE_BYTES 16u /* u64 offset in the file, u64 number of bytes */
#define ONNX_MAX_FIELDS (8u << 20)

/* Lengths of messages are filled in behind them, in so many bytes. Other readers take
 * no more than five, in which a message has less than 2 GiB. */
enum onnx_lengths { ONNX_SHORT_LENGTHS = 5, ONNX_LONG_LENGTHS = 10 };

/** Scan @file and append the smaller message to @out. -1 with the error of @g. */
MSD_MUST_CHECK int onnx_wire_trim(modser_graph *g, struct msd_span file,
				  struct msd_buf *out);
/**
 * The other use of the scan: append all of @file to @out, but give each tensor's
 * message to @tensor, which writes what takes its place, or nothing: then it is copied
 * as it is. -1 with the error of @g.
 */
typedef int onnx_wire_tensor(void *ctx, struct msd_span message, struct msd_buf *out,
			     bool *ret_is_written);
MSD_MUST_CHECK int onnx_wire_copy(modser_graph *g, struct msd_span file,
				  enum onnx_lengths lengths, onnx_wire_tensor *tensor,
				  void *ctx, struct msd_buf *out);
/* Where a TensorProto says that its bytes are. */
enum { ONNX_RAW_DATA = 9, ONNX_EXTERNAL_DATA = 13, ONNX_DATA_LOCATION = 14 };
/** Append @tensor, a message that has been scanned, but for these. */
void onnx_wire_put_others(struct msd_buf *out, struct msd_span tensor);
/* A field of a message. */
struct onnx_field {
	uint32_t number;
	uint32_t type; /* 0: `value` has it; 2: `body` has it */
	size_t n;      /* of body; it is there */
	const uint8_t *body;
	uint64_t value;
};
/** Take the next; false: it is none, or ends behind @c. */
MSD_MUST_CHECK bool onnx_field_take(struct msd_cur *c, struct onnx_field *ret);
/** Does @head, the first bytes of a file, begin as an ONNX model does? */
bool onnx_wire_probe(struct msd_span head);

#endif
