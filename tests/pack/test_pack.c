/* The serializer as C programs have it. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "pack/modser_pack.h"
#include "tests/artifact/blob_writer.h"

Test(pack, what_is_saved_is_loaded)
{
	modser_tree *tree = modser_tree_create(MODSER_TVM_0_8);
	unsigned char *blob = NULL;
	size_t bytes = 0;
	size_t n = 0;

	cr_assert_eq(modser_tree_add(tree, "_lib", NULL, 0), 0);
	cr_assert_eq(modser_tree_add(tree, "metadata_module", NULL, 0), 1);
	cr_assert_eq(modser_tree_import(tree, 0, 1), 0);
	cr_assert_eq(modser_tree_save(tree, &blob, &bytes), 0);
	modser_tree_destroy(tree);
	tree = modser_tree_load(MODSER_TVM_0_8, blob, bytes);
	cr_assert_eq(modser_tree_count(tree), 2);
	cr_expect_str_eq(modser_tree_kind(tree, 1), "metadata_module");
	cr_expect_eq(modser_tree_import_at(tree, 0, 0), 1);
	(void)modser_tree_payload(tree, 1, &n);
	cr_expect_eq(n, 0);
	modser_tree_destroy(tree);
	free(blob);
}

Test(pack, kernels_are_laid_out_as_tvm_does)
{
	static const char *const types[] = {"handle", "int32"};
	static const char *const tags[] = {"blockIdx.x"};
	static const modser_kernel k = {"k", types, 2, tags, 1};
	modser_tree *tree = modser_tree_create(MODSER_TVM_0_8);
	struct blob_entry e[] = {{.kind = "_lib", .imports = {1}, .n_imports = 1},
				 {.kind = "cuda"}};
	struct bw want = {0};
	unsigned char *blob = NULL;
	size_t bytes = 0;

	cr_assert_eq(modser_tree_add(tree, "_lib", NULL, 0), 0);
	cr_assert_eq(modser_tree_add_kernels(tree, "cuda", "ptx", "//", 2, &k, 1), 1);
	cr_assert_eq(modser_tree_import(tree, 0, 1), 0);
	cr_assert_eq(modser_tree_save(tree, &blob, &bytes), 0);
	bw_str(&e[1].payload, "ptx");
	bw_u64(&e[1].payload, 1);
	bw_str(&e[1].payload, "k");
	bw_u64(&e[1].payload, 0);
	bw_u64(&e[1].payload, 2);
	bw_raw(&e[1].payload, "\3\100\1\0\0\40\1\0", 8);
	bw_u64(&e[1].payload, 1);
	bw_str(&e[1].payload, "blockIdx.x");
	bw_str(&e[1].payload, "//");
	blob_inline(&want, e, 2, true);
	cr_assert_eq(bytes, want.n);
	cr_expect_arr_eq(blob, want.p, want.n);
	bw_free(&e[1].payload);
	bw_free(&want);
	free(blob);
	modser_tree_destroy(tree);
}

Test(pack, failures_are_told)
{
	static const char *const types[] = {"quatsch"};
	static const modser_kernel k = {"k", types, 1, NULL, 0};
	modser_tree *tree = modser_tree_create(MODSER_TVM_0_22);
	unsigned char *blob = NULL;
	size_t bytes = 0;

	cr_expect_eq(modser_tree_save(tree, &blob, &bytes), -1);
	cr_expect_eq(modser_tree_add_kernels(tree, "cuda", "ptx", "", 0, &k, 1), -1);
	cr_expect(strstr(modser_tree_error(tree), "quatsch") != NULL);
	cr_expect_eq(modser_tree_import(tree, 0, 1), -1);
	modser_tree_destroy(tree);
	tree = modser_tree_load(MODSER_TVM_0_22, "short", 5);
	cr_assert_not_null(tree);
	cr_expect_eq(modser_tree_count(tree), 0);
	cr_expect_gt(strlen(modser_tree_error(tree)), 10);
	modser_tree_destroy(tree);
}

Test(pack, a_loaded_tree_is_saved_as_it_was)
{
	modser_tree *tree = modser_tree_create(MODSER_TVM_0_22);
	unsigned char *blob = NULL;
	unsigned char *again = NULL;
	size_t bytes = 0;
	size_t n = 0;

	(void)modser_tree_add(tree, "_lib", NULL, 0);
	(void)modser_tree_add(tree, "opencl", "b", 1);
	(void)modser_tree_add(tree, "cuda", "c", 1);
	(void)modser_tree_add(tree, "hip", "d", 1);
	cr_assert_eq(modser_tree_import(tree, 0, 1), 0);
	cr_assert_eq(modser_tree_import(tree, 0, 2), 0);
	cr_assert_eq(modser_tree_import(tree, 1, 3), 0);
	cr_assert_eq(modser_tree_import(tree, 2, 3), 0);
	cr_assert_eq(modser_tree_save(tree, &blob, &bytes), 0);
	modser_tree_destroy(tree);
	tree = modser_tree_load(MODSER_TVM_0_22, blob, bytes);
	cr_assert_eq(modser_tree_save(tree, &again, &n), 0);
	cr_assert_eq(n, bytes);
	cr_expect_arr_eq(again, blob, bytes);
	free(again);
	cr_assert_eq(modser_tree_add(tree, "webgpu", "e", 1), 4);
	cr_assert_eq(modser_tree_import(tree, 0, 4), 0);
	cr_assert_eq(modser_tree_save(tree, &again, &n), 0);
	cr_expect_gt(n, bytes);
	modser_tree_destroy(tree);
	free(again);
	free(blob);
}

Test(pack, a_release_that_is_none)
{
	const modser_release none = (modser_release)77;

	cr_expect_null(modser_tree_create(none));
	cr_expect_null(modser_tree_load(none, "", 0));
	cr_expect_null(modser_tree_symbol(none));
}
