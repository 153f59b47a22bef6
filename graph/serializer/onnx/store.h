#ifndef MSD_ONNX_STORE_H
#define MSD_ONNX_STORE_H
/* Write a graph as an ONNX model. */
#include "graph/modser_graph.h"
#include "graph/serializer/onnx/emit.h"

/** modser_serializer_ops.store of ONNX: 0, or -1 with the graph's error. */
int onnx_store(const modser_serializer *s, modser_graph *graph, modser_part *ret_parts);
/** Write the graph of @e as a message, which lives as long as @e. */
MSD_MUST_CHECK int onnx_store_graph(struct onnx_emit *e, Onnx__GraphProto *ret);

#endif
