/* Models of TensorFlow: small ones of a writer of its own (make_tensorflow_corpus.py). */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "graph/modser_graph.h"
#include "graph/serializer/tensorflow/bundle.h"
#include "proto/base/bytes.h"
#include "tests/artifact/fixture.h"
#include "tests/graph/net.h"

#define MODELS MSD_SOURCE_DIR "/tests/corpus/tensorflow/"
#define TABLES MSD_SOURCE_DIR "/tests/corpus/bundle/"

TestSuite(tensorflow, .timeout = 300);

/* A file of the corpus: the model, and the table of its variables. */
struct model {
	modser_part model, index;
	float data[9]; /* of the variables: 0, 1, 2, ... */
};

static struct model split(const uint8_t *p, size_t n)
{
	const size_t first = n >= 4 ? msd_le32(p) : 0;
	const bool is_cut = n < 4 || first > n - 4;
	struct model m = {{p + 4, is_cut ? 0 : first},
			  {p + 4 + first, is_cut ? 0 : n - 4 - first},
			  {0}};

	for (size_t i = 0; i < 9; i++)
		m.data[i] = (float)i;
	return m;
}

static int read_beside(void *ctx, modser_graph *graph, const char *name,
		       modser_part *ret)
{
	const struct model *m = ctx;

	if (m->index.bytes == 0)
		return modser_graph_fail(graph, "no variables");
	*ret = strstr(name, ".index") != NULL ? m->index
					      : (modser_part){m->data, sizeof(m->data)};
	return 0;
}

static modser_graph *load_with(struct model *m, const modser_model_options *options,
			       int *ret)
{
	modser_serializer *s = modser_serializer_get("tensorflow");
	modser_graph *g = modser_graph_create("");

	modser_graph_set_beside(g, read_beside, m);
	*ret = modser_serializer_load_memory(s, &m->model, 1, options, g);
	modser_serializer_unref(s);
	return g;
}
