#ifndef MSD_TFLITE_READ_H
#define MSD_TFLITE_READ_H
/* Models of TensorFlow Lite. */
#include "graph/modser_graph.h"

/** The load function of the serializer. */
int tflite_load(const modser_serializer *s, const modser_part *parts,
		const modser_model_options *options, modser_graph *graph);

#endif
