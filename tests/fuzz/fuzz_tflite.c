#include <stdlib.h>

#include "graph/modser_graph.h"
#include "tests/fuzz/fuzz.h"

/* What was read is whole: it can be written as text, and its shapes can be inferred or
 * are refused. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const modser_part part = {data, n};
	modser_serializer *s = modser_serializer_get("tflite");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, &part, 1, NULL, g);
	char *text = NULL;

	if (result == 0) {
		MUST(modser_graph_dump(g, &text) == 0);
		(void)modser_graph_infer(g);
	} else {
		MUST(modser_graph_error(g)[0] != '\0');
	}
	free(text);
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result == 0;
}
