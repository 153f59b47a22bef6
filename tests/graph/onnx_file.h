#ifndef MSD_TESTS_GRAPH_ONNX_FILE_H
#define MSD_TESTS_GRAPH_ONNX_FILE_H
/* ONNX files as tests read them. The suite of a test that includes this has the
 * fixtures begin() and end(). */
#include "graph/modser_graph.h"
#include "proto/base/bytes.h"

#define CORPUS MSD_SOURCE_DIR "/tests/corpus/onnx/"

static modser_serializer *onnx;

static void begin(void)
{
	onnx = modser_serializer_get("onnx");
}

static void end(void)
{
	modser_serializer_unref(onnx);
}

/* The graph of @file, or, with *@ret -1, what is there of it and the error. */
static inline modser_graph *load(struct msd_span file, int *ret)
{
	const modser_part part = {file.p, file.n};
	modser_graph *g = modser_graph_create("");

	*ret = modser_serializer_load_memory(onnx, &part, 1, NULL, g);
	return g;
}

#endif
