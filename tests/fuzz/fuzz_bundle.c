#include "graph/modser_graph.h"
#include "graph/serializer/tensorflow/bundle.h"
#include "tests/fuzz/fuzz.h"

/* Each key of a table that was read is found. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	modser_graph *g = modser_graph_create("");
	struct tf_bundle b;
	const int result = tf_bundle_read(g, (struct msd_span){data, n}, &b);

	MUST(result == 0 || modser_graph_error(g)[0] != '\0');
	for (size_t i = 0; result == 0 && i < b.n; i++)
		MUST(tf_bundle_find(&b, b.entries[i].key) == &b.entries[i]);
	tf_bundle_finish(&b);
	modser_graph_destroy(g);
	return result == 0;
}
