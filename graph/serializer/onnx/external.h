#ifndef MSD_ONNX_EXTERNAL_H
#define MSD_ONNX_EXTERNAL_H
/* Weights that lie in files of their own: where the bytes of each are. */
#include <onnx.pb-c.h>

#include "graph/modser_graph.h"
#include "proto/bytes.h"

#define ONNX_IS_EXTERNAL 1 /* data_location */

/* Of one model, the graphs within it too. */
struct onnx_external {
	modser_read_beside *read; /* NULL: there are no files */
	void *ctx;
	/* Private. */
	const void **files; /* that were read */
	size_t n_files;
	uint64_t file_bytes; /* of those */
	uint64_t used_bytes; /* of all tensors */
};

/** The bytes of @p in the file that it names. -1 with the error of @g, which names the
 * tensor: a file that is not there, a place that is not in it, a length that is not its
 * shape's, files whose bytes too many tensors share. */
int onnx_external_find(struct onnx_external *e, modser_graph *g,
		       const Onnx__TensorProto *p, struct msd_span *ret);
void onnx_external_finish(struct onnx_external *e);

#endif
