#ifndef MSD_ONNX_FACTS_H
#define MSD_ONNX_FACTS_H
/* Facts of a graph apart from its nodes: identity and attributes, as fields and
 * properties of a model. */
#include "graph/serializer/onnx/emit.h"

/** Set facts of @g from @m. -1 with its error: memory is short. */
MSD_MUST_CHECK int onnx_facts_read(modser_graph *g, const Onnx__ModelProto *m);
/**
 * Set fields of @m from the facts of the graph of @e. -1 with its error: a fact that
 * ONNX cannot express.
 */
MSD_MUST_CHECK int onnx_facts_write(struct onnx_emit *e, Onnx__ModelProto *m);

#endif
