#ifndef MSD_GRAPH_SERIALIZER_OPERATORS_H
#define MSD_GRAPH_SERIALIZER_OPERATORS_H
/* The operators that a serializer can read and write. */
#include "graph/modser_graph.h"
#include "proto/base/err.h"

/* Unique names, sorted by their bytes. */
struct msd_operators {
	char **names;
	size_t n;
};

/**
 * List the operators that models in the format of @s may have, by their names in its
 * files. The other function lists those of a graph that can be stored, by the graph's
 * names. For an external serializer only operators with a registered method are
 * listed. False: memory is short. Finish *@ret in any case.
 */
MSD_MUST_CHECK bool msd_operators_loaded(const modser_serializer *s,
					 struct msd_operators *ret);
MSD_MUST_CHECK bool msd_operators_stored(const modser_serializer *s,
					 struct msd_operators *ret);
void msd_operators_finish(struct msd_operators *o);
/** Add @name to @o for a format that lists its own; duplicates are allowed. */
MSD_MUST_CHECK bool msd_operators_add(struct msd_operators *o, const char *name);

/* The methods of the built-in formats for the operators that they know. */
int msd_tmfile_load_known(modser_sg_node *node, const void *param, size_t bytes);
int msd_onnx_load_known(modser_sg_node *node, const modser_onnx_node *from);

/* Operators of the built-in formats, without registered methods. */
MSD_MUST_CHECK bool msd_tmfile_operators(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_onnx_operators_loaded(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_onnx_operators_stored(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_caffe_operators(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_mxnet_operators(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_tflite_operators(struct msd_operators *ret);
MSD_MUST_CHECK bool msd_tensorflow_operators(struct msd_operators *ret);

#endif
