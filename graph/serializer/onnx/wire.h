#ifndef MSD_ONNX_WIRE_H
#define MSD_ONNX_WIRE_H
/* The messages of ONNX for the common scan (graph/serializer/wire/wire.h), and the
 * probe of its files. */
#include "graph/serializer/wire/wire.h"

extern const struct msd_wire_format onnx_wire_format;

/** Scan @file and append the smaller message to @out. -1 with the error of @g. */
MSD_MUST_CHECK int onnx_wire_trim(modser_graph *g, struct msd_span file,
				  struct msd_buf *out);
/** Copy @file, and pass the message of each tensor to @tensor (msd_wire_copy()). */
MSD_MUST_CHECK int onnx_wire_copy(modser_graph *g, struct msd_span file,
				  enum msd_wire_lengths lengths,
				  msd_wire_replace *tensor, void *ctx,
				  struct msd_buf *out);
/* Fields of a TensorProto with the location of its bytes. */
enum { ONNX_RAW_DATA = 9, ONNX_EXTERNAL_DATA = 13, ONNX_DATA_LOCATION = 14 };
/** Append @tensor, a scanned message, without these fields. */
void onnx_wire_put_others(struct msd_buf *out, struct msd_span tensor);
/** True if @head, the first bytes of a file, begins like an ONNX model. */
bool onnx_wire_probe(struct msd_span head);

#endif
