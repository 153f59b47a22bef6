#include <stdlib.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "tests/fuzz/fuzz.h"

/* The number of bytes of the symbol, the symbol, the parameters. What was read is
 * whole: it can be written as text, and its shapes can be inferred or are refused. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const size_t symbol = n >= 4 ? msd_le32(data) : n;

	if (n < 4 || symbol > n - 4)
		return 0;
	const modser_part parts[] = {{data + 4, symbol},
				     {data + 4 + symbol, n - 4 - symbol}};
	modser_serializer *s = modser_serializer_get("mxnet");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, parts, 2, NULL, g);
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
