#ifndef MSD_ONNX_STORE_H
#define MSD_ONNX_STORE_H
/* A graph on its way into an ONNX model. */
#include "graph/modser_graph.h"

int onnx_store(const modser_serializer *s, modser_graph *graph, modser_part *ret_parts);

#endif
