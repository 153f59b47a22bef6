#include "graph/modser_graph.h"
#include "tests/fuzz/fuzz.h"

/* A network as text, beside a file of weights that has none. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	static const uint8_t none[] = {0x0a, 1, 'n', 0xa2, 0x06, 0};
	const modser_part parts[] = {{data, n}, {none, sizeof(none)}};
	modser_serializer *s = modser_serializer_get("caffe");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, parts, 2, NULL, g);

	MUST(result == 0 || modser_graph_error(g)[0] != '\0');
	MUST(result != 0 || modser_graph_check(g) == 0);
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result == 0;
}
