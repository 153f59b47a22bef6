#ifndef MSD_ONNX_EXTERNAL_H
#define MSD_ONNX_EXTERNAL_H
/* External data: find the bytes of weights in files of their own. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

#define ONNX_IS_EXTERNAL 1 /* data_location */

/* State of one model, including its subgraphs. */
struct onnx_external {
	modser_read_beside *read; /* NULL: no other files */
	void *ctx;
	/* Private. */
	const void **files; /* files read so far */
	size_t n_files;
	uint64_t file_bytes;  /* total size of these files */
	uint64_t used_bytes;  /* total size of all tensors */
	uint64_t dense_bytes; /* that sparse tensors had, written out */
};

/**
 * Find the bytes of @p in the file that it names. -1 with the error of @g, which
 * names the tensor: the file does not exist, the range is outside it, the length does
 * not match the shape, or too many tensors share the bytes.
 */
int onnx_external_find(struct onnx_external *e, modser_graph *g,
		       const Onnx__TensorProto *p, struct msd_span *ret);
void onnx_external_finish(struct onnx_external *e);

#endif
