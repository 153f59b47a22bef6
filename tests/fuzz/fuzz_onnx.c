#include <stdlib.h>

#include "graph/modser_graph.h"
#include "graph/pass/pass.h"
#include "tests/fuzz/fuzz.h"

/* What was read can be stored, unless that is refused with a reason; then it is read
 * again. */
static void store(const modser_serializer *s, modser_graph *g)
{
	modser_graph *again = modser_graph_create("");
	modser_part part = {0};

	if (again == NULL)
		abort();
	if (modser_serializer_store_memory(s, g, &part, 1) != 0) {
		if (modser_graph_error(g)[0] == '\0')
			abort();
	} else if (modser_serializer_load_memory(s, &part, 1, NULL, again) != 0) {
		abort();
	}
	modser_graph_destroy(again);
	free((void *)(uintptr_t)part.data);
}

static bool may_make(const modser_sg_node *node, const char *made)
{
	(void)node;
	(void)made;
	return true;
}

/* What passes leave holds together; there are no kernels here to fold with. */
static void pass(modser_graph *g)
{
	const struct msd_pass_host host = {NULL, may_make};
	struct msd_passed passed;

	if (msd_passes_run(g, host, &passed) == 0 && modser_graph_check(g) != 0)
		abort();
}

/* A graph that was read can be written as text, and its shapes are inferred or refused.
 */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const modser_part part = {data, n};
	modser_serializer *s = modser_serializer_get("onnx");
	modser_graph *g = modser_graph_create("");
	const int result = modser_serializer_load_memory(s, &part, 1, NULL, g);
	char *text = NULL;

	if (result == 0 && modser_graph_dump(g, &text) != 0)
		abort();
	free(text);
	if (result == 0 && modser_graph_infer(g) != 0 &&
	    modser_graph_error(g)[0] == '\0')
		abort();
	if (result == 0)
		store(s, g);
	if (result == 0)
		pass(g);
	modser_graph_destroy(g);
	modser_serializer_unref(s);
	return result == 0;
}
