#ifndef MSD_MXNET_READ_H
#define MSD_MXNET_READ_H
/* Symbols of MXNet with their parameters. */
#include "graph/modser_graph.h"

/** The load function of the serializer. */
int mxnet_load(const modser_serializer *s, const modser_part *parts,
	       const modser_model_options *options, modser_graph *graph);

#endif
