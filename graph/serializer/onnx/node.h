#ifndef MSD_ONNX_NODE_H
#define MSD_ONNX_NODE_H
/* Read the nodes of a file into a graph. */
#include "graph/serializer/onnx/load.h"

#define ONNX_MAX_IMPORTS 64u /* limit for a model or a function */

/** The import of @domain; NULL if absent. */
const Onnx__OperatorSetIdProto *onnx_import_of(const struct onnx_imports *imports,
					       const char *domain);
/** Read @p, node @i of the graph or function in @l. */
MSD_MUST_CHECK int onnx_read_node(struct onnx_load *l, const Onnx__NodeProto *p,
				  size_t i);

#endif
