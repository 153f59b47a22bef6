#include <stdlib.h>

#include "graph/modser_graph.h"
#include "tests/fuzz/fuzz.h"

/* What was read is whole: it can be written as text and as a file, which is read again
 * and has the same nodes. */
static void walk(const modser_serializer *s, modser_graph *g)
{
	const modser_model_options options = {.fill = MODSER_FILL_LEAVE};
	modser_graph *again = modser_graph_create("");
	modser_part part = {0};
	char *text = NULL;

	if (modser_graph_dump(g, &text) != 0)
		abort();
	free(text);
	if (modser_serializer_store_memory(s, g, &part, 1) != 0 || again == NULL ||
	    modser_serializer_load_memory(s, &part, 1, &options, again) != 0 ||
	    modser_graph_node_count(g) != modser_graph_node_count(again))
		abort();
	modser_graph_destroy(again);
	free((void *)(uintptr_t)part.data);
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const modser_part part = {data, n};
	modser_serializer *s = modser_serializer_get("tengine");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, &part, 1, NULL, g);

	if (result == 0)
		walk(s, g);
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result == 0;
}
