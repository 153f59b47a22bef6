/*
 * write_aot FILE: the blob of an ahead-of-time compiled model as TVM 0.9 to 0.19 would
 * embed it: factory, metadata_module, const_loader without users, library.
 */
#include <stdio.h>

#include "tests/artifact/blob_writer.h"

static void put_factory(struct bw *b)
{
	const float bias[] = {10, 20, 30};

	bw_u64(b, 1);
	bw_strs(b, (const char *const[]){"bias", NULL});
	bw_tensor(b, 2, 32, (const uint64_t[]){3}, 1, bias, sizeof(bias));
	bw_str(b, "default");
}

static void put_const_loader(struct bw *b)
{
	bw_strs(b, (const char *const[]){NULL});
	bw_u64(b, 0);
	bw_strs(b, (const char *const[]){"unused", NULL});
	bw_u64(b, 1);
	bw_strs(b, (const char *const[]){NULL});
}

int main(int argc, char **argv)
{
	struct blob_entry entries[] = {
		{.kind = "AotExecutorFactory", .imports = {1}, .n_imports = 1},
		{.kind = "metadata_module", .imports = {2}, .n_imports = 1},
		{.kind = "const_loader", .imports = {3}, .n_imports = 1},
		{.kind = "_lib"},
	};
	struct bw blob = {0};

	put_factory(&entries[0].payload);
	put_const_loader(&entries[2].payload);
	blob_inline(&blob, entries, sizeof(entries) / sizeof(entries[0]), true);
	FILE *f = argc == 2 ? fopen(argv[1], "wb") : NULL;
	if (f == NULL || fwrite(blob.p, 1, blob.n, f) != blob.n || fclose(f) != 0)
		return 1;
	bw_free(&blob);
	for (size_t i = 0; i < sizeof(entries) / sizeof(entries[0]); i++)
		bw_free(&entries[i].payload);
	return 0;
}
