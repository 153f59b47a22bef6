#ifndef MSD_ONNX_STORE_H
#define MSD_ONNX_STORE_H
/* A graph on its way into an ONNX model. */
#include "graph/modser_graph.h"

/** modser_serializer_ops.store of ONNX: 0, or -1 with the graph's error. */
int onnx_store(const modser_serializer *s, modser_graph *graph, modser_part *ret_parts);

#endif
