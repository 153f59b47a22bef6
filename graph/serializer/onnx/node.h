#ifndef MSD_ONNX_NODE_H
#define MSD_ONNX_NODE_H
/* Nodes of a file on their way into a graph. */
#include "graph/serializer/onnx/load.h"

/** Read @p, node @i of what @l reads. */
MSD_MUST_CHECK int onnx_read_node(struct onnx_load *l, const Onnx__NodeProto *p,
				  size_t i);

#endif
