#include "graph/modser_graph.h"
#include "tests/fuzz/fuzz.h"

/* Layers and weights in one file. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const modser_part part = {data, n};
	modser_serializer *s = modser_serializer_get("caffe_single");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, &part, 1, NULL, g);

	MUST(result == 0 || modser_graph_error(g)[0] != '\0');
	MUST(result != 0 || modser_graph_check(g) == 0);
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result == 0;
}
