#ifndef MSD_ONNX_SPLIT_H
#define MSD_ONNX_SPLIT_H
/* External data of ONNX: move a model's weights into a file of their own. */
#include "graph/modser_graph.h"

/** See modser_serializer_ops. */
int onnx_split(const modser_part *model, const char *name, modser_graph *graph,
	       modser_part *ret_model, modser_part *ret_data);

#endif
