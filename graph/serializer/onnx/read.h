#ifndef MSD_ONNX_READ_H
#define MSD_ONNX_READ_H
/* Models and graphs of a file, and the tensors that their nodes name. */
#include "graph/serializer/onnx/load.h"

/** modser_serializer_ops.load of ONNX: 0, or -1 with the graph's error. */
int onnx_load(const modser_serializer *s, const modser_part *parts,
	      const modser_model_options *options, modser_graph *graph);
/** Read a graph and everything in it into the empty graph of @l. */
MSD_MUST_CHECK int onnx_load_graph(struct onnx_load *l, const Onnx__GraphProto *p);

/**
 * Find @name in this graph or in the enclosing graphs; from those it is captured as
 * an input. *@ret is NULL if absent.
 */
MSD_MUST_CHECK int onnx_find(struct onnx_load *l, const char *name,
			     modser_sg_tensor **ret);
/** Check that @name is not empty and not in use. @what has it, for error texts. */
MSD_MUST_CHECK int onnx_check_name(struct onnx_load *l, const char *name,
				   const char *what);
/** Register @t under its name. */
MSD_MUST_CHECK int onnx_remember(struct onnx_load *l, modser_sg_tensor *t);

#endif
