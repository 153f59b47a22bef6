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

/** Scan @file and append the smaller message to @out. -1 with the error of @g. */
MSD_MUST_CHECK int onnx_wire_trim(modser_graph *g, struct msd_span file,
				  struct msd_buf *out);
/** Does @head, the first bytes of a file, begin as an ONNX model does? */
bool onnx_wire_probe(struct msd_span head);

#endif
