#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/graph_json/graph.h"
#include "tests/support/exact.h"

/* x -> f -> y(2 outputs) -> g(y.1) */
static const char good[] =
	"{\"nodes\": ["
	"{\"op\": \"null\", \"name\": \"x\", \"inputs\": []},"
	"{\"op\": \"tvm_op\", \"name\": \"f1\", \"attrs\": {\"func_name\": \"f\","
	" \"num_inputs\": \"1\", \"num_outputs\": \"2\", \"flatten_data\": \"0\"},"
	" \"inputs\": [[0, 0, 0]]},"
	"{\"op\": \"tvm_op\", \"name\": \"g1\", \"attr\": {\"func_name\": \"g\","
	" \"num_outputs\": \"1\", \"flatten_data\": \"1\"}, \"inputs\": [[1, 1]],"
	" \"control_deps\": [0]}],"
	"\"arg_nodes\": [0], \"heads\": [[2, 0, 0], [0, 0, 0]],"
	"\"attrs\": {\"dltype\": [\"list_str\", [\"float32\", \"bool\", \"int8x4\","
	" \"float16\"]],"
	"\"storage_id\": [\"list_int\", [7, 1000000, 3, 3]],"
	"\"shape\": [\"list_shape\", [[2, 3], [], [5], [0, 9]]],"
	"\"device_index\": [\"list_int\", [1, 1, 2, 2]], \"other\": [\"size_t\", 5]},"
	"\"node_row_ptr\": [0, 1, 3, 4], \"metadata\": {\"any\": 1.5}}\n";

static msd_err read_text(const char *text, size_t n, struct msd_graph *g,
			 struct msd_diag *d)
{
	uint8_t *copy = exact_copy(text, n);
	msd_err err = msd_graph_read((struct msd_span){copy, n}, g, d);

	free(copy);
	return err;
}

/* The good graph with @from, which it must hold, replaced by @to, is refused so. */
static void expect_refusal(const char *from, const char *to, const char *words)
{
	const char *at = strstr(good, from);
	struct msd_graph g;
	struct msd_diag d = {0};
	char *text = NULL;

	cr_assert_not_null(at, "%s", from);
	int n = asprintf(&text, "%.*s%s%s", (int)(at - good), good, to,
			 at + strlen(from));
	cr_assert_eq(read_text(text, (size_t)n, &g, &d), MSD_BAD_ARTIFACT, "%s", to);
	cr_assert_str_eq(msd_diag_text(&d), words);
	msd_diag_finish(&d);
	free(text);
}

Test(graph_json, nodes_and_entries_are_read)
{
	struct msd_graph g;

	cr_assert_eq(read_text(good, sizeof(good) - 1, &g, NULL), MSD_OK);
	cr_assert_eq(g.n_nodes, 3);
	cr_assert_str_eq(g.nodes[2].func, "g");
	cr_assert(g.nodes[2].flatten && !g.nodes[1].flatten);
	cr_assert_eq(g.nodes[2].inputs[0], 2, "the second output of node 1");
	cr_assert(g.n_args == 1 && g.args[0] == 0);
	cr_assert(g.n_heads == 2 && g.heads[0] == 3 && g.heads[1] == 0);
	cr_assert_eq(g.entries[0].bytes, 24);
	cr_assert_eq(g.entries[1].bytes, 1);
	cr_assert_eq(g.entries[1].dtype.code, MSD_DT_UINT);
	cr_assert_eq(g.entries[2].bytes, 20);
	cr_assert_eq(g.entries[3].bytes, 0);
	cr_assert_eq(g.entries[3].device_type, MSD_DEV_CUDA);
	msd_graph_finish(&g);
}

Test(graph_json, storages_are_numbered_without_gaps)
{
	struct msd_graph g;

	cr_assert_eq(read_text(good, sizeof(good) - 1, &g, NULL), MSD_OK);
	cr_assert_eq(g.n_storages, 3);
	cr_assert_eq(g.entries[2].storage, g.entries[3].storage);
	cr_assert_eq(g.storage_ids[g.entries[0].storage], 7);
	cr_assert_eq(g.storage_ids[g.entries[1].storage], 1000000);
	msd_graph_finish(&g);
}

Test(graph_json, every_prefix_is_refused)
{
	struct msd_graph g;

	for (size_t n = 0; n < sizeof(good) - 2; n++)
		cr_assert_eq(read_text(good, n, &g, NULL), MSD_BAD_ARTIFACT, "%zu", n);
}

Test(graph_json, bad_references_are_named)
{
	expect_refusal("\"num_inputs\": \"1\"", "\"num_inputs\": \"2\"",
		       "graph: node 1 (f1): num_inputs 2, but it has 1 inputs");
	expect_refusal("[[0, 0, 0]]}", "[[1, 0, 0]]}",
		       "graph: node 1 (f1): inputs[0]: node 1 is not before this one");
}

Test(graph_json, what_disagrees_is_refused)
{
	expect_refusal("[0, 1, 3, 4]", "[0, 1, 3]",
		       "graph: node_row_ptr: expected 4 numbers");
	expect_refusal("[0, 1, 3, 4]", "[0, 3, 1, 4]",
		       "graph: node_row_ptr[2]: not in order");
	expect_refusal("\"arg_nodes\": [0]", "\"arg_nodes\": [1]",
		       "graph: arg_nodes[0]: not an input");
	expect_refusal("\"arg_nodes\": [0]", "\"arg_nodes\": []",
		       "graph: 0 arg_nodes, but 1 nodes have no function");
	expect_refusal("\"float16\"]", "\"floaty\"]",
		       "graph: attrs.dltype[3]: unknown type floaty");
	expect_refusal("[0, 9]", "[-1, 9]", "graph: attrs.shape[3]: not a shape");
	expect_refusal("[0, 9]", "[4611686018427387904, 9]",
		       "graph: attrs.shape[3]: not a shape");
	expect_refusal("[1, 1, 2, 2]", "[1, 1, 2]",
		       "graph: attrs.device_index: expected 4 elements, got 3");
	expect_refusal("[7, 1000000, 3, 3]", "[7, -1, 3, 3]",
		       "graph: attrs.storage_id[1]: no number");
}
