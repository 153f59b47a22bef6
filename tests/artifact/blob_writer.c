#include "tests/artifact/blob_writer.h"

#include <stdlib.h>
#include <string.h>

#include "tests/artifact/payload_writer.h"
#include "tests/artifact/relax_writer.h"

static void put_rows(struct bw *b, const struct blob_entry *entries, size_t n)
{
	uint64_t at = 0;

	bw_u64(b, n + 1);
	bw_u64(b, 0);
	for (size_t i = 0; i < n; i++) {
		at += entries[i].n_imports;
		bw_u64(b, at);
	}
	bw_u64(b, at);
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < entries[i].n_imports; k++)
			bw_u64(b, entries[i].imports[k]);
	}
}

void blob_inline(struct bw *b, const struct blob_entry *entries, size_t n,
		 bool has_tree)
{
	struct bw stream = {0};

	bw_u64(&stream, n + (has_tree ? 1 : 0));
	for (size_t i = 0; i < n; i++) {
		bw_str(&stream, entries[i].kind);
		bw_raw(&stream, entries[i].payload.p, entries[i].payload.n);
	}
	if (has_tree) {
		bw_str(&stream, "_import_tree");
		put_rows(&stream, entries, n);
	}
	bw_str_of(b, &stream); /* the size prefix is a u64, too */
	bw_free(&stream);
}

void blob_framed(struct bw *b, const struct blob_entry *entries, size_t n)
{
	struct bw stream = {0};

	put_rows(&stream, entries, n);
	for (size_t i = 0; i < n; i++) {
		bw_str(&stream, entries[i].kind);
		if (strcmp(entries[i].kind, "_lib") != 0)
			bw_str_of(&stream, &entries[i].payload);
	}
	bw_str_of(b, &stream);
	bw_free(&stream);
}

static void free_entries(struct blob_entry *entries, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bw_free(&entries[i].payload);
}

/* 0.6: no library, no tree; opencl and cuda are the root's imports */
static void write_06(struct bw *b)
{
	struct blob_entry e[] = {{.kind = "opencl"}, {.kind = "cuda"}};

	pw_device(&e[0].payload, "cl", "// Function: k\n", false);
	pw_device(&e[1].payload, "ptx", ".version 7.0\n", false);
	blob_inline(b, e, 2, false);
	free_entries(e, 2);
}

/* 0.7: two libraries, one importing the other's device code; the last import comes
 * first */
static void write_07(struct bw *b)
{
	struct blob_entry e[] = {
		{.kind = "_lib", .imports = {3, 1}, .n_imports = 2},
		{.kind = "_lib", .imports = {2}, .n_imports = 1},
		{.kind = "opencl"},
		{.kind = "metal"},
	};

	pw_device(&e[2].payload, "cl", "// Function: k\n", false);
	pw_device(&e[3].payload, "metal", "kernel void k() {}", false);
	blob_inline(b, e, 4, true);
	free_entries(e, 4);
}

/* 0.8: a factory, its constants, the library, device code that two import */
static void write_08(struct bw *b)
{
	struct blob_entry e[] = {
		{.kind = "GraphExecutorFactory", .imports = {1}, .n_imports = 1},
		{.kind = "metadata", .imports = {2, 3}, .n_imports = 2},
		{.kind = "_lib", .imports = {4}, .n_imports = 1},
		{.kind = "dnnl_json", .imports = {4}, .n_imports = 1},
		{.kind = "opencl"},
	};

	pw_graph_factory(&e[0].payload);
	pw_const_loader(&e[1].payload);
	pw_json_runtime(&e[3].payload);
	pw_device(&e[4].payload, "cl", "// Function: k\n", false);
	blob_inline(b, e, 5, true);
	free_entries(e, 5);
}

/* 0.14: every kind whose bytes only its own reader can delimit */
static void write_014(struct bw *b)
{
	struct blob_entry e[] = {
		{.kind = "AotExecutorFactory", .imports = {1}, .n_imports = 1},
		{.kind = "metadata_module", .imports = {2}, .n_imports = 1},
		{.kind = "_lib", .imports = {3, 4, 5, 6}, .n_imports = 4},
		{.kind = "metal"},
		{.kind = "vulkan"},
		{.kind = "webgpu"},
		{.kind = "const_loader", .imports = {7, 8, 9}, .n_imports = 3},
		{.kind = "ethos-n"},
		{.kind = "VitisAIRuntime"},
		{.kind = "VMExecutable"},
	};

	pw_aot_factory(&e[0].payload);
	pw_metal_013(&e[3].payload, false);
	pw_vulkan(&e[4].payload, false);
	pw_webgpu(&e[5].payload, false);
	pw_const_loader(&e[6].payload);
	pw_ethos_n(&e[7].payload, true);
	pw_vitis(&e[8].payload);
	pw_relay_vm(&e[9].payload, 14);
	blob_inline(b, e, 10, true);
	free_entries(e, 10);
}

/* A Relax program over the library over CUDA code; @kind was renamed in 0.20. */
static void write_relax(struct bw *b, const char *kind, enum rw_tags tags)
{
	struct blob_entry e[] = {
		{.kind = kind, .imports = {1}, .n_imports = 1},
		{.kind = "_lib", .imports = {2}, .n_imports = 1},
		{.kind = "cuda"},
	};
	struct rw_image program = rw_program(tags);
	struct bw image = {0};

	rw_write(&image, &program);
	pw_device(&e[2].payload, "ptx", ".version 7.0\n", tags != RW_CLASSIC);
	if (tags == RW_022) {
		bw_raw(&e[0].payload, image.p, image.n);
		blob_framed(b, e, 3);
	} else {
		bw_str_of(&e[0].payload, &image);
		blob_inline(b, e, 3, true);
	}
	bw_free(&image);
	free_entries(e, 3);
}

/* 0.24: kinds whose payload changed, and one that nobody knows: framed, so skipped */
static void write_024(struct bw *b)
{
	struct blob_entry e[] = {
		{.kind = "_lib", .imports = {1, 2, 3}, .n_imports = 3},
		{.kind = "metal"},
		{.kind = "never_heard_of"},
		{.kind = "const_loader"},
	};

	pw_metal_024(&e[1].payload);
	bw_raw(&e[2].payload, "???", 3);
	pw_const_loader(&e[3].payload);
	blob_framed(b, e, 4);
	free_entries(e, 4);
}

/* 0.24: kinds with a file for each kernel, and those of vendors' compilers */
static void write_024_shaders(struct bw *b)
{
	struct blob_entry e[] = {
		{.kind = "_lib", .imports = {1, 2, 3, 4}, .n_imports = 4},
		{.kind = "metal"},
		{.kind = "vulkan"},
		{.kind = "webgpu"},
		{.kind = "static_library", .imports = {5, 6, 7, 8}, .n_imports = 4},
		{.kind = "c"},
		{.kind = "torch"},
		{.kind = "coreml"},
		{.kind = "mrvl_sim"},
	};

	pw_metal_024(&e[1].payload);
	pw_vulkan(&e[2].payload, true);
	pw_webgpu(&e[3].payload, true);
	pw_static_library(&e[4].payload);
	pw_c_source(&e[5].payload);
	pw_symbol_code(&e[6].payload, false);
	pw_symbol_code(&e[7].payload, false);
	pw_symbol_code(&e[8].payload, true);
	blob_framed(b, e, 9);
	free_entries(e, 9);
}

struct golden_blob *golden_blobs(size_t *ret_n)
{
	static const struct golden_blob all[] = {
		{.name = "06", .era = MSD_ERA_CLASSIC, .n_modules = 3},
		{.name = "07_two_libs", .era = MSD_ERA_CLASSIC, .n_modules = 4},
		{.name = "08_factory_diamond", .era = MSD_ERA_CLASSIC, .n_modules = 5},
		{.name = "014_many_kinds", .era = MSD_ERA_CLASSIC, .n_modules = 10},
		{.name = "016_relax", .era = MSD_ERA_CLASSIC, .n_modules = 3},
		{.name = "020_relax", .era = MSD_ERA_CLASSIC, .n_modules = 3},
		{.name = "021_relax", .era = MSD_ERA_FFI_021, .n_modules = 3},
		{.name = "022_relax", .era = MSD_ERA_FFI, .n_modules = 3},
		{.name = "024_unknown_kind", .era = MSD_ERA_FFI, .n_modules = 4},
		{.name = "024_shaders", .era = MSD_ERA_FFI, .n_modules = 9},
	};
	struct golden_blob *g = malloc(sizeof(all));

	if (g == NULL)
		abort();
	memcpy(g, all, sizeof(all));
	write_06(&g[0].bytes);
	write_07(&g[1].bytes);
	write_08(&g[2].bytes);
	write_014(&g[3].bytes);
	write_relax(&g[4].bytes, "relax.Executable", RW_CLASSIC);
	write_relax(&g[5].bytes, "relax.VMExecutable", RW_CLASSIC);
	write_relax(&g[6].bytes, "relax.VMExecutable", RW_021);
	write_relax(&g[7].bytes, "relax.VMExecutable", RW_022);
	write_024(&g[8].bytes);
	write_024_shaders(&g[9].bytes);
	*ret_n = sizeof(all) / sizeof(*all);
	return g;
}

void golden_blobs_free(struct golden_blob *blobs, size_t n)
{
	for (size_t i = 0; i < n; i++)
		bw_free(&blobs[i].bytes);
	free(blobs);
}
