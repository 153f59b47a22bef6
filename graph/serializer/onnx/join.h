#ifndef MSD_ONNX_JOIN_H
#define MSD_ONNX_JOIN_H
/* External data of ONNX: weights in files of their own put back into the model. */
#include "graph/modser_graph.h"

/** As modser_serializer_ops wants it. */
int onnx_join(const modser_part *model, modser_read_beside *read, void *ctx,
	      modser_graph *graph, modser_part *ret);

#endif
