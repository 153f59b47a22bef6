#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "artifact/tree/tree.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/mangle.h"
#include "tests/artifact/payload_writer.h"

static bool reads(struct msd_span blob, void *ctx)
{
	const enum msd_era *era = ctx;
	struct msd_tree tree = {0};
	struct msd_diag d = {0};
	msd_err err = msd_tree_read_blob(blob, *era, &tree, &d);

	msd_tree_finish(&tree);
	msd_diag_finish(&d);
	return err == MSD_OK;
}

/* Read a blob that must be refused; the caller finishes *@d. */
static msd_err refuse(struct bw *blob, enum msd_era era, struct msd_diag *d)
{
	struct msd_tree tree = {0};
	msd_err err = msd_tree_read_blob(bw_span(blob), era, &tree, d);

	cr_assert_neq(err, MSD_OK);
	cr_assert_null(tree.modules, "a failed read wrote its result");
	bw_free(blob);
	return err;
}

static void expect_refusal(struct bw *blob, enum msd_era era, msd_err code,
			   const char *words)
{
	struct msd_diag d = {0};

	cr_expect_eq(refuse(blob, era, &d), code);
	cr_expect(strstr(msd_diag_text(&d), words) != NULL, "\"%s\" is not in \"%s\"",
		  words, msd_diag_text(&d));
	msd_diag_finish(&d);
}

Test(tree, every_layout_is_read)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		struct msd_tree tree = {0};
		struct msd_diag d = {0};
		msd_err err =
			msd_tree_read_blob(bw_span(&g[i].bytes), g[i].era, &tree, &d);

		cr_expect_eq(err, MSD_OK, "%s: %s", g[i].name, msd_diag_text(&d));
		cr_expect_eq(tree.n_modules, g[i].n_modules, "%s", g[i].name);
		msd_tree_finish(&tree);
		msd_diag_finish(&d);
	}
	golden_blobs_free(g, n);
}

Test(tree, every_prefix_is_refused)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		cr_expect_eq(mangle_prefixes(bw_span(&g[i].bytes), reads, &g[i].era), 0,
			     "%s", g[i].name);
	}
	golden_blobs_free(g, n);
}

Test(tree, a_flipped_byte_does_no_harm)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++)
		cr_expect(mangle_flips(bw_span(&g[i].bytes), reads, &g[i].era));
	golden_blobs_free(g, n);
}

/* The imports of module @i as text: "1 2". */
static const char *imports_of(const struct msd_tree *tree, uint32_t i, char out[64])
{
	size_t at = 0;

	out[0] = '\0';
	for (uint32_t k = 0; k < tree->modules[i].n_imports; k++) {
		at += (size_t)snprintf(out + at, 64 - at, "%s%u", k > 0 ? " " : "",
				       tree->modules[i].imports[k]);
	}
	return out;
}

static struct msd_tree read_golden(struct golden_blob *g, size_t n, const char *name)
{
	struct msd_tree tree = {0};

	for (size_t i = 0; i < n; i++) {
		if (strcmp(g[i].name, name) == 0) {
			cr_assert_eq(msd_tree_read_blob(bw_span(&g[i].bytes), g[i].era,
							&tree, NULL),
				     MSD_OK);
		}
	}
	cr_assert_not_null(tree.modules, "no golden blob %s", name);
	return tree;
}

Test(tree, without_a_tree_the_library_imports_all_others)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	struct msd_tree tree = read_golden(g, n, "06");
	char text[64];

	cr_expect(!tree.has_import_tree);
	cr_expect(msd_span_is(tree.modules[0].kind, "_lib"));
	cr_expect(msd_span_is(tree.modules[1].kind, "opencl"));
	cr_expect(msd_span_is(tree.modules[2].kind, "cuda"));
	cr_expect_str_eq(imports_of(&tree, 0, text), "1 2");
	msd_tree_finish(&tree);
	golden_blobs_free(g, n);
}

Test(tree, several_libraries_may_import_one_another)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	struct msd_tree tree = read_golden(g, n, "07_two_libs");
	char text[64];

	cr_expect_str_eq(imports_of(&tree, 0, text), "3 1");
	cr_expect_str_eq(imports_of(&tree, 1, text), "2");
	cr_expect(msd_span_is(tree.modules[1].kind, "_lib"));
	msd_tree_finish(&tree);
	golden_blobs_free(g, n);
}

Test(tree, a_module_may_be_imported_by_several)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	struct msd_tree tree = read_golden(g, n, "08_factory_diamond");
	char text[64];

	cr_expect_str_eq(imports_of(&tree, 1, text), "2 3");
	cr_expect_str_eq(imports_of(&tree, 2, text), "4");
	cr_expect_str_eq(imports_of(&tree, 3, text), "4");
	msd_tree_finish(&tree);
	golden_blobs_free(g, n);
}

Test(tree, a_framed_module_of_an_unknown_kind_is_kept)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	struct msd_tree tree = read_golden(g, n, "024_unknown_kind");

	cr_expect(msd_span_is(tree.modules[2].kind, "never_heard_of"));
	cr_expect(msd_span_is(tree.modules[2].payload, "???"));
	msd_tree_finish(&tree);
	golden_blobs_free(g, n);
}

Test(tree, an_inline_payload_ends_where_the_next_module_begins)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);
	struct msd_tree tree = read_golden(g, n, "014_many_kinds");
	struct bw metal = {0};

	pw_metal_013(&metal, false);
	cr_assert_eq(tree.modules[3].payload.n, metal.n);
	cr_expect_arr_eq(tree.modules[3].payload.p, metal.p, metal.n);
	bw_free(&metal);
	msd_tree_finish(&tree);
	golden_blobs_free(g, n);
}

Test(tree, an_unknown_inline_kind_is_named)
{
	struct blob_entry e[] = {{.kind = "_lib", .imports = {1}, .n_imports = 1},
				 {.kind = "zzz"}};
	struct bw blob = {0};

	blob_inline(&blob, e, 2, true);
	expect_refusal(&blob, MSD_ERA_CLASSIC, MSD_UNSUPPORTED, "\"zzz\"");
}

Test(tree, modules_that_import_each_other_are_refused)
{
	struct blob_entry e[] = {{.kind = "_lib", .imports = {1}, .n_imports = 1},
				 {.kind = "_lib", .imports = {2}, .n_imports = 1},
				 {.kind = "_lib", .imports = {1}, .n_imports = 1}};
	struct bw blob = {0};
	struct bw framed = {0};

	blob_inline(&blob, e, 3, true);
	expect_refusal(&blob, MSD_ERA_CLASSIC, MSD_BAD_ARTIFACT, "import each other");
	blob_framed(&framed, e, 3);
	expect_refusal(&framed, MSD_ERA_FFI, MSD_BAD_ARTIFACT, "import each other");
}

Test(tree, a_module_that_imports_itself_is_refused)
{
	struct blob_entry e = {.kind = "_lib", .imports = {0}, .n_imports = 1};
	struct bw blob = {0};

	blob_framed(&blob, &e, 1);
	expect_refusal(&blob, MSD_ERA_FFI, MSD_BAD_ARTIFACT, "import each other");
}

Test(tree, an_import_that_is_no_module_is_refused)
{
	struct blob_entry e = {.kind = "_lib", .imports = {7}, .n_imports = 1};
	struct bw blob = {0};

	blob_inline(&blob, &e, 1, true);
	expect_refusal(&blob, MSD_ERA_FFI_021, MSD_BAD_ARTIFACT, "import 7");
}

Test(tree, a_module_that_nobody_imports_is_tolerated)
{
	struct blob_entry e[] = {{.kind = "_lib"}, {.kind = "metadata_module"}};
	struct bw blob = {0};
	enum msd_era era = MSD_ERA_CLASSIC;

	blob_inline(&blob, e, 2, true);
	cr_expect(reads(bw_span(&blob), &era));
	bw_free(&blob);
}

Test(tree, rows_out_of_order_are_refused)
{
	static const uint64_t row_ptr[] = {0, 2, 1};
	static const uint64_t children[] = {1};
	struct bw stream = {0};
	struct bw blob = {0};

	bw_u64s(&stream, row_ptr, 3);
	bw_u64s(&stream, children, 1);
	bw_str(&stream, "_lib");
	bw_str(&stream, "_lib");
	bw_str_of(&blob, &stream);
	bw_free(&stream);
	expect_refusal(&blob, MSD_ERA_FFI, MSD_BAD_ARTIFACT, "not in order");
}

Test(tree, a_huge_count_allocates_nothing)
{
	struct bw stream = {0};
	struct bw blob = {0};

	bw_u64(&stream, (uint64_t)1 << 60);
	bw_str_of(&blob, &stream);
	bw_free(&stream);
	expect_refusal(&blob, MSD_ERA_CLASSIC, MSD_BAD_ARTIFACT, "does not fit");
}

Test(tree, bytes_after_the_last_module_are_refused)
{
	struct bw stream = {0};
	struct bw blob = {0};

	bw_u64(&stream, 0); /* no entries, as 0.14 writes for a lone root, then one */
	bw_str(&stream, "metadata_module");
	bw_str_of(&blob, &stream);
	bw_free(&stream);
	expect_refusal(&blob, MSD_ERA_CLASSIC, MSD_BAD_ARTIFACT, "bytes are left");
}

Test(tree, more_modules_than_the_limit_are_refused)
{
	struct bw stream = {0};
	struct bw blob = {0};

	bw_u64(&stream, MSD_MAX_MODULES + 1);
	for (uint32_t i = 0; i <= MSD_MAX_MODULES; i++)
		bw_str(&stream, "_lib");
	bw_str_of(&blob, &stream);
	bw_free(&stream);
	expect_refusal(&blob, MSD_ERA_CLASSIC, MSD_UNSUPPORTED, "modules");
}
