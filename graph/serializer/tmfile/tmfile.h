#ifndef MSD_TMFILE_TMFILE_H
#define MSD_TMFILE_TMFILE_H
/* The functions of the tengine serializer. */
#include "graph/modser_graph.h"

/** modser_serializer_ops.load and .store: 0, or -1 with the graph's error. */
int tm_load(const modser_serializer *s, const modser_part *parts,
	    const modser_model_options *options, modser_graph *graph);
int tm_store(const modser_serializer *serializer, modser_graph *graph,
	     modser_part *ret_parts);

#endif
