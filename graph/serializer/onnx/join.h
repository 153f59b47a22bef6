#ifndef MSD_ONNX_JOIN_H
#define MSD_ONNX_JOIN_H
/* External data of ONNX: merge weights in files of their own back into the model. */
#include "graph/modser_graph.h"

/** See modser_serializer_ops. */
int onnx_join(const modser_part *model, modser_read_beside *read, void *ctx,
	      modser_graph *graph, modser_part *ret);

#endif
