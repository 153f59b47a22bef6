/* Modules taken apart into files, and put together again. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "artifact/tree/write.h"
#include "pack/manifest.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/fixture.h"
#include "tests/pack/read_piece.h"

static struct msd_span last_of(const struct msd_pieces *pieces)
{
	return pieces->piece[pieces->n - 1].bytes; /* the manifest */
}

/* @tree -> files -> tree -> the same blob. */
static void expect_same(const struct msd_tree *tree, enum msd_era era,
			struct msd_span blob, const char *name)
{
	struct msd_pieces pieces = {0};
	struct msd_piece_source source = {read_piece, &pieces};
	struct msd_manifest m = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_manifest_write(tree, era, NULL, &pieces, &d), MSD_OK);
	cr_assert_eq(msd_manifest_read(last_of(&pieces), &source, &m, &d), MSD_OK,
		     "%s: %s", name, msd_diag_text(&d));
	cr_assert_eq(m.era, era, "%s", name);
	cr_assert_eq(msd_tree_write(&m.tree, &out, &d), MSD_OK, "%s: %s", name,
		     msd_diag_text(&d));
	cr_assert_eq(out.n, blob.n, "%s", name);
	if (blob.n > 0)
		cr_expect_arr_eq(out.p, blob.p, blob.n, "%s", name);
	msd_buf_finish(&out);
	msd_manifest_finish(&m);
	msd_pieces_finish(&pieces);
}

Test(pieces, every_layout_comes_back)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		struct msd_tree tree = {0};

		cr_assert_eq(
			msd_tree_read_blob(bw_span(&g[i].bytes), g[i].era, &tree, NULL),
			MSD_OK);
		expect_same(&tree, g[i].era, bw_span(&g[i].bytes), g[i].name);
		msd_tree_finish(&tree);
	}
	golden_blobs_free(g, n);
}

static void expect_rewritten_alike(const char *path)
{
	struct bw file = fixture_read(path);
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};

	if (strstr(path, "/bad_") == NULL) {
		cr_assert_eq(msd_elf_read(bw_span(&file), &elf, NULL), MSD_OK);
		enum msd_era era = msd_era_of(&elf);
		cr_assert_eq(msd_tree_read_library(&elf, era, &tree, NULL), MSD_OK);
		struct msd_span blob = {0};
		if (tree.layout != MSD_BLOB_NONE)
			blob = (struct msd_span){tree.blob.p - 8, tree.blob.n + 8};
		expect_same(&tree, era, blob, path);
	}
	msd_tree_finish(&tree);
	msd_elf_finish(&elf);
	bw_free(&file);
}

Test(pieces, real_libraries_come_back)
{
	(void)fixture_each("tvm-0.8", ".so", expect_rewritten_alike);
	(void)fixture_each("tvm-0.27", ".so", expect_rewritten_alike);
}

/* The names of all files that golden blob @name is made of, each with a blank. */
static void list_files(const char *name, struct msd_buf *ret)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		struct msd_pieces pieces = {0};
		struct msd_tree tree = {0};

		if (strcmp(g[i].name, name) != 0)
			continue;
		cr_assert_eq(
			msd_tree_read_blob(bw_span(&g[i].bytes), g[i].era, &tree, NULL),
			MSD_OK);
		cr_assert_eq(msd_manifest_write(&tree, g[i].era, NULL, &pieces, NULL),
			     MSD_OK);
		for (size_t k = 0; k < pieces.n; k++)
			msd_buf_printf(ret, "%s ", pieces.piece[k].name);
		msd_pieces_finish(&pieces);
		msd_tree_finish(&tree);
	}
	msd_buf_put_u8(ret, 0);
	golden_blobs_free(g, n);
}

Test(pieces, people_can_open_the_files)
{
	struct msd_buf names = {0};

	list_files("08_factory_diamond", &names);
	cr_expect_str_eq((char *)names.p,
			 "0-GraphExecutorFactory.graph.json "
			 "0-GraphExecutorFactory.params 1-metadata.params "
			 "3-dnnl_json.graph.json 4-opencl.tvm_meta.json 4-opencl.cl "
			 "manifest.json ");
	msd_buf_finish(&names);
}

Test(pieces, each_shader_is_a_file)
{
	struct msd_buf late = {0};
	struct msd_buf early = {0};

	list_files("024_shaders", &late);
	cr_expect_str_eq((char *)late.p,
			 "1-metal.tvm_meta.json 1-metal.k.metal "
			 "2-vulkan.tvm_meta.json 2-vulkan.k.spv "
			 "3-webgpu.tvm_meta.json 3-webgpu.k.wgsl 4-static_library.o "
			 "5-c.c 6-torch.pt 7-coreml.mlmodelc 8-mrvl_sim.nodes.json "
			 "8-mrvl_sim.code manifest.json ");
	list_files("014_many_kinds", &early);
	cr_expect_str_eq((char *)early.p,
			 "0-AotExecutorFactory.params 3-metal.k.metal "
			 "3-metal.tvm_meta.json 4-vulkan.tvm_meta.json 4-vulkan.k.spv "
			 "5-webgpu.tvm_meta.json 5-webgpu.k.wgsl "
			 "6-const_loader.params 7-ethos-n.bin 8-VitisAIRuntime.xmodel "
			 "9-VMExecutable.ro manifest.json ");
	msd_buf_finish(&late);
	msd_buf_finish(&early);
}

/* A webgpu module of kernels whose names are no names of files. */
static void write_shaders(struct bw *payload, const char *const *names)
{
	size_t n = 0;

	while (names[n] != NULL)
		n++;
	bw_u64(payload, 0);
	bw_u64(payload, n);
	for (size_t i = 0; i < n; i++) {
		bw_str(payload, names[i]);
		bw_str(payload, names[i]);
	}
}

Test(pieces, kernels_with_odd_names_do_not_meet)
{
	static const char *const names[] = {"a/b", "a_b", "../../a", "", "a b", NULL};
	struct blob_entry e[] = {{.kind = "_lib", .imports = {1}, .n_imports = 1},
				 {.kind = "webgpu"}};
	struct msd_pieces pieces = {0};
	struct msd_tree tree = {0};
	struct bw blob = {0};

	write_shaders(&e[1].payload, names);
	blob_framed(&blob, e, 2);
	cr_assert_eq(msd_tree_read_blob(bw_span(&blob), MSD_ERA_FFI, &tree, NULL),
		     MSD_OK);
	cr_assert_eq(msd_manifest_write(&tree, MSD_ERA_FFI, NULL, &pieces, NULL),
		     MSD_OK);
	cr_assert_eq(pieces.n, 7);
	cr_expect_str_eq(pieces.piece[1].name, "1-webgpu.0-a_b.wgsl");
	cr_expect_str_eq(pieces.piece[2].name, "1-webgpu.a_b.wgsl");
	cr_expect_str_eq(pieces.piece[3].name, "1-webgpu.2-______a.wgsl");
	expect_same(&tree, MSD_ERA_FFI, bw_span(&blob), "odd names");
	msd_pieces_finish(&pieces);
	msd_tree_finish(&tree);
	bw_free(&e[1].payload);
	bw_free(&blob);
}

Test(pieces, programs_have_a_listing_beside_them)
{
	struct msd_buf names = {0};

	list_files("022_relax", &names);
	cr_expect_str_eq((char *)names.p,
			 "0-relax.VMExecutable.vm 0-relax.VMExecutable.vm.txt "
			 "2-cuda.tvm_meta.json 2-cuda.ptx manifest.json ");
	msd_buf_finish(&names);
}

/* @text must be refused with @words. */
static void expect_refusal(const char *text, const char *words)
{
	struct msd_pieces none = {0};
	struct msd_piece_source source = {read_piece, &none};
	struct msd_manifest m = {0};
	struct msd_diag d = {0};
	struct msd_span span = msd_span_of(text);

	cr_expect_neq(msd_manifest_read(span, &source, &m, &d), MSD_OK, "%s", text);
	cr_expect(strstr(msd_diag_text(&d), words) != NULL, "%s: \"%s\"", text,
		  msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(pieces, a_wrong_manifest_is_refused_in_words)
{
	expect_refusal("", "manifest: invalid JSON at line");
	expect_refusal("{}", "expected \"tvm\"");
	expect_refusal("{\"tvm\":\"0.8\"}", "\"modules\"");
	expect_refusal("{\"tvm\":\"0.8\",\"modules\":[{}]}", "no \"kind\"");
	expect_refusal(
		"{\"tvm\":\"0.8\",\"modules\":[{\"kind\":\"_lib\",\"imports\":[1]}]}",
		"imports");
	expect_refusal("{\"tvm\":\"0.8\",\"modules\":[{\"kind\":\"cuda\"}]}",
		       "\"format\"");
	expect_refusal(
		"{\"tvm\":\"0.8\",\"modules\":[{\"kind\":\"cuda\",\"payload\":\"x\"}]}",
		"module 0 (cuda): payload: x");
	expect_refusal("{\"tvm\":\"0.8\",\"modules\":[{\"kind\":\"metal\","
		       "\"version\":\"0.1.0\",\"shaders\":[{}]}]}",
		       "shaders 0: \"name\"");
	expect_refusal(
		"{\"tvm\":\"0.22\",\"modules\":[{\"kind\":\"_lib\",\"imports\":[1]},"
		"{\"kind\":\"_lib\",\"imports\":[0]}]}",
		"import each other");
}

Test(pieces, a_lone_library_needs_no_blob)
{
	static const char text[] =
		"{\"tvm\":\"0.22\",\"modules\":[{\"kind\":\"_lib\"}]}";
	struct msd_piece_source source = {0};
	struct msd_manifest m = {0};
	struct msd_span span = msd_span_of(text);

	cr_assert_eq(msd_manifest_read(span, &source, &m, NULL), MSD_OK);
	cr_expect_eq(m.tree.layout, MSD_BLOB_NONE);
	msd_manifest_finish(&m);
}
