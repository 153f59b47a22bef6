/*
 * write_graph07 FILE [one]: the blob of a graph model as TVM 0.7 would embed it: a
 * GraphRuntimeFactory above the library, which has a place in the tree for each of its
 * two pieces of code; with `one`, a single place.
 */
#include <stdio.h>

#include "tests/artifact/blob_writer.h"

static const char graph[] =
	"{\"nodes\": [{\"op\": \"null\", \"name\": \"x\", \"inputs\": []},"
	"{\"op\": \"null\", \"name\": \"w\", \"inputs\": []},"
	"{\"op\": \"tvm_op\", \"name\": \"add\", \"attrs\": {\"func_name\": "
	"\"fused_add\","
	" \"num_inputs\": \"2\", \"num_outputs\": \"1\", \"flatten_data\": \"0\"},"
	" \"inputs\": [[0, 0, 0], [1, 0, 0]]},"
	"{\"op\": \"tvm_op\", \"name\": \"twice\", \"attrs\": {\"func_name\": "
	"\"fused_twice\","
	" \"num_inputs\": \"1\", \"num_outputs\": \"1\", \"flatten_data\": \"0\"},"
	" \"inputs\": [[2, 0, 0]]}],"
	"\"arg_nodes\": [0, 1], \"heads\": [[3, 0, 0]],"
	"\"attrs\": {\"dltype\": [\"list_str\", [\"float32\", \"float32\", \"float32\","
	" \"float32\"]], \"storage_id\": [\"list_int\", [0, 1, 2, 3]],"
	"\"shape\": [\"list_shape\", [[3], [3], [3], [3]]]},"
	"\"node_row_ptr\": [0, 1, 2, 3, 4]}";

static void put_factory(struct bw *b)
{
	const float w[] = {10, 20, 30};

	bw_str(b, graph);
	bw_u64(b, 1);
	bw_strs(b, (const char *const[]){"w", NULL});
	bw_tensor(b, 2, 32, (const uint64_t[]){3}, 1, w, sizeof(w));
	bw_str(b, "default");
}

int main(int argc, char **argv)
{
	struct blob_entry entries[] = {
		{.kind = "GraphRuntimeFactory", .imports = {1}, .n_imports = 1},
		{.kind = "_lib", .imports = {2}, .n_imports = 1},
		{.kind = "_lib"},
	};
	struct bw blob = {0};

	const size_t n = argc == 3 ? 2 : 3;

	entries[1].n_imports = n - 2;
	put_factory(&entries[0].payload);
	blob_inline(&blob, entries, n, true);
	FILE *f = argc >= 2 ? fopen(argv[1], "wb") : NULL;
	if (f == NULL || fwrite(blob.p, 1, blob.n, f) != blob.n || fclose(f) != 0)
		return 1;
	bw_free(&blob);
	bw_free(&entries[0].payload);
	return 0;
}
