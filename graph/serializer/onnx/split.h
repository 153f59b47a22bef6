#ifndef MSD_ONNX_SPLIT_H
#define MSD_ONNX_SPLIT_H
/* External data of ONNX: a model's weights taken out into a file of their own. */
#include "graph/modser_graph.h"

/** As modser_serializer_ops wants it. */
int onnx_split(const modser_part *model, const char *name, modser_graph *graph,
	       modser_part *ret_model, modser_part *ret_data);

#endif
