#ifndef MSD_CAFFE_READ_H
#define MSD_CAFFE_READ_H
/* Networks of Caffe: a text with the layers and a file with the weights, or one file
 * with both. */
#include <caffe.pb-c.h>

#include "graph/modser_graph.h"
#include "graph/serializer/wire/wire.h"

extern const struct msd_wire_format caffe_wire_format;

/** The load functions of both serializers. */
int caffe_load(const modser_serializer *s, const modser_part *parts,
	       const modser_model_options *options, modser_graph *graph);
int caffe_load_single(const modser_serializer *s, const modser_part *parts,
		      const modser_model_options *options, modser_graph *graph);

/** The name of a layer's type in new files, from its number in old ones; NULL: none. */
const char *caffe_type_of(Caffe__V1LayerParameter__LayerType type);
/** Set *@ret to layer @p of an old file; it borrows everything. */
void caffe_layer_of(const Caffe__V1LayerParameter *p, Caffe__LayerParameter *ret);
/** True if the layer is part of the network when it is not trained. */
bool caffe_is_included(const Caffe__LayerParameter *p, const Caffe__NetParameter *net);

#endif
