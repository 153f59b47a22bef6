#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "proto/base/bytes.h"
#include "tests/fuzz/fuzz.h"

static const uint8_t zeros[4096];

/* The table of variables is behind the model; the data of variables are zeros. */
static int read_beside(void *ctx, modser_graph *graph, const char *name,
		       modser_part *ret)
{
	const modser_part *index = ctx;

	if (index->bytes == 0)
		return modser_graph_fail(graph, "no variables");
	*ret = strstr(name, ".index") != NULL ? *index
					      : (modser_part){zeros, sizeof(zeros)};
	return 0;
}

/* A graph that was read can be written as text, and its shapes are inferred or refused.
 */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const size_t first = n >= 4 ? msd_le32(data) : 0;

	if (n < 4 || first > n - 4)
		return 0;
	const modser_part part = {data + 4, first};
	modser_part index = {data + 4 + first, n - 4 - first};
	modser_serializer *s = modser_serializer_get("tensorflow");
	modser_graph *g = modser_graph_create("");
	char *text = NULL;

	modser_graph_set_beside(g, read_beside, &index);
	const int result = modser_serializer_load_memory(s, &part, 1, NULL, g);
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
