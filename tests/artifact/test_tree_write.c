/* Trees read and written again, trees made up, trees numbered as the releases do. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "artifact/tree/write.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/fixture.h"

#define MANY 40 /* modules of a made-up tree */

static void expect_same(const struct msd_tree *tree, struct msd_span blob,
			const char *name)
{
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_tree_write(tree, &out, &d), MSD_OK, "%s: %s", name,
		     msd_diag_text(&d));
	cr_assert_eq(out.n, blob.n, "%s", name);
	cr_expect_arr_eq(out.p, blob.p, blob.n, "%s", name);
	msd_buf_finish(&out);
}

Test(tree_write, what_was_read_is_written_as_it_was)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		struct msd_tree tree = {0};

		cr_assert_eq(
			msd_tree_read_blob(bw_span(&g[i].bytes), g[i].era, &tree, NULL),
			MSD_OK);
		expect_same(&tree, bw_span(&g[i].bytes), g[i].name);
		msd_tree_finish(&tree);
	}
	golden_blobs_free(g, n);
}

/* Nobody writes these, but a loader accepts them. */
Test(tree_write, unusual_orders_of_entries_are_kept)
{
	static const char *const orders[][4] = {
		{"_lib", "json"}, {"json", "_lib"}, {"_lib", "json", "_lib"}, {"_lib"}};

	for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++) {
		struct msd_tree tree = {0};
		struct bw b = {0};
		size_t n = 0;

		while (n < 4 && orders[i][n] != NULL)
			n++;
		bw_u64(&b, 0);
		bw_u64(&b, n);
		for (size_t k = 0; k < n; k++) {
			bw_str(&b, orders[i][k]);
			for (size_t zeros = orders[i][k][0] == 'j' ? 3 : 0; zeros > 0;
			     zeros--)
				bw_u64(&b, 0);
		}
		msd_put_le64(b.p, b.n - 8);
		cr_assert_eq(
			msd_tree_read_blob(bw_span(&b), MSD_ERA_CLASSIC, &tree, NULL),
			MSD_OK);
		expect_same(&tree, bw_span(&b), orders[i][0]);
		msd_tree_finish(&tree);
		bw_free(&b);
	}
}

static void expect_rewritten_alike(const char *path)
{
	struct bw file = fixture_read(path);
	struct msd_elf elf = {0};
	struct msd_tree tree = {0};

	if (strstr(path, "/bad_") == NULL) {
		cr_assert_eq(msd_elf_read(bw_span(&file), &elf, NULL), MSD_OK);
		cr_assert_eq(msd_tree_read_library(&elf, msd_era_of(&elf), &tree, NULL),
			     MSD_OK, "%s", path);
		if (tree.layout != MSD_BLOB_NONE) {
			expect_same(&tree,
				    (struct msd_span){tree.blob.p - 8, tree.blob.n + 8},
				    path);
		}
	}
	msd_tree_finish(&tree);
	msd_elf_finish(&elf);
	bw_free(&file);
}

Test(tree_write, real_libraries_are_written_as_they_were)
{
	(void)fixture_each("tvm-0.8", ".so", expect_rewritten_alike);
	(void)fixture_each("tvm-0.27", ".so", expect_rewritten_alike);
}

/* A tree made by hand; nothing in it is owned. */
struct made {
	struct msd_tree tree;
	struct msd_tree_module modules[MANY];
	uint32_t edges[MANY][3 * MANY];
};

static void made_add(struct made *m, const char *kind, const char *payload)
{
	struct msd_tree_module *new = &m->modules[m->tree.n_modules];

	new->kind = msd_span_of(kind);
	new->payload = msd_span_of(payload);
	new->imports = m->edges[m->tree.n_modules++];
	m->tree.modules = m->modules;
}

static void made_import(struct made *m, uint32_t parent, uint32_t child)
{
	m->edges[parent][m->modules[parent].n_imports++] = child;
}

/* "_lib>1 2 | opencl" of a tree that was numbered. */
static void expect_drawn(const struct made *m, enum msd_tree_style style,
			 const char *expected)
{
	struct msd_tree tree = {0};
	struct msd_buf out = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_tree_order(&m->tree, style, &tree, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	for (uint32_t i = 0; i < tree.n_modules; i++) {
		const struct msd_tree_module *one = &tree.modules[i];

		msd_buf_printf(&out, "%s%.*s", i > 0 ? " | " : "", (int)one->kind.n,
			       (const char *)one->kind.p);
		msd_buf_put(&out, one->payload.p, one->payload.n);
		for (uint32_t k = 0; k < one->n_imports; k++) {
			msd_buf_printf(&out, "%c%u", k > 0 ? ' ' : '>',
				       one->imports[k]);
		}
	}
	msd_buf_put_u8(&out, 0);
	cr_expect_str_eq((char *)out.p, expected);
	msd_buf_finish(&out);
	msd_tree_finish(&tree);
}

/* llvm -> [opencl 1, llvm -> [opencl 2, llvm]], of which TVM 0.8's result is known. */
static void make_two_level(struct made *m)
{
	made_add(m, "_lib", "");
	made_add(m, "opencl", "1");
	made_add(m, "_lib", "");
	made_add(m, "opencl", "2");
	made_add(m, "_lib", "");
	made_import(m, 0, 1);
	made_import(m, 0, 2);
	made_import(m, 2, 3);
	made_import(m, 2, 4);
}

Test(tree_write, host_modules_become_one_since_08)
{
	struct made m = {0};

	make_two_level(&m);
	expect_drawn(&m, MSD_TREE_08, "_lib>1 2 | opencl2 | opencl1");
	expect_drawn(&m, MSD_TREE_022, "_lib>1 2 | opencl2 | opencl1");
}

Test(tree_write, host_modules_stay_apart_in_07_last_import_first)
{
	struct made m = {0};

	make_two_level(&m);
	expect_drawn(&m, MSD_TREE_07, "_lib>1 4 | _lib>2 3 | _lib | opencl2 | opencl1");
}

Test(tree_write, what_is_above_the_host_code_comes_first)
{
	struct made m = {0};

	made_add(&m, "GraphExecutorFactory", "");
	made_add(&m, "_lib", "");
	made_add(&m, "opencl", "");
	made_add(&m, "metadata", "");
	made_add(&m, "left out", "");
	made_import(&m, 0, 3);
	made_import(&m, 3, 1);
	made_import(&m, 1, 2);
	expect_drawn(&m, MSD_TREE_08,
		     "GraphExecutorFactory>1 | metadata>2 | _lib>3 | opencl");
}

Test(tree_write, a_diamond_keeps_its_one_bottom)
{
	struct made m = {0};

	made_add(&m, "_lib", "");
	made_add(&m, "x", "a");
	made_add(&m, "x", "b");
	made_add(&m, "x", "c");
	made_import(&m, 0, 1);
	made_import(&m, 0, 2);
	made_import(&m, 1, 3);
	made_import(&m, 2, 3);
	expect_drawn(&m, MSD_TREE_022, "_lib>1 3 | xb>2 | xc | xa>2");
}

static void expect_unsupported(const struct made *m, enum msd_tree_style style)
{
	struct msd_tree tree = {0};
	struct msd_buf out = {0};

	cr_assert_eq(msd_tree_order(&m->tree, style, &tree, NULL), MSD_OK);
	cr_expect_eq(msd_tree_write(&tree, &out, NULL), MSD_UNSUPPORTED);
	msd_buf_finish(&out);
	msd_tree_finish(&tree);
}

Test(tree_write, the_layout_of_06_has_one_level)
{
	struct made m = {0};

	made_add(&m, "_lib", "");
	made_add(&m, "opencl", "");
	made_add(&m, "cuda", "");
	made_import(&m, 0, 1);
	made_import(&m, 1, 2);
	expect_unsupported(&m, MSD_TREE_06);
}

/* What a loader makes of a made-up tree's blob, and that blob written again. */
static void expect_survives(const struct made *m, enum msd_tree_style style)
{
	enum msd_era era = style == MSD_TREE_022 ? MSD_ERA_FFI : MSD_ERA_CLASSIC;
	struct msd_tree numbered = {0};
	struct msd_tree again = {0};
	struct msd_buf out = {0};

	if (msd_tree_order(&m->tree, style, &numbered, NULL) != MSD_OK)
		return; /* libraries that import each other once they are one */
	cr_assert_eq(msd_tree_write(&numbered, &out, NULL), MSD_OK);
	struct msd_span blob = {out.p, out.n};
	cr_assert_eq(msd_tree_read_blob(blob, era, &again, NULL), MSD_OK);
	cr_assert_eq(again.n_modules, numbered.n_modules);
	for (uint32_t i = 0; i < again.n_modules; i++) {
		const struct msd_tree_module *a = &again.modules[i];
		const struct msd_tree_module *b = &numbered.modules[i];

		cr_assert_eq(a->n_imports, b->n_imports);
		cr_assert_eq(a->payload.n,
			     msd_span_is(b->kind, "_lib") ? 0 : b->payload.n);
		for (uint32_t k = 0; k < a->n_imports; k++)
			cr_assert_eq(a->imports[k], b->imports[k]);
	}
	expect_same(&again, blob, "made up");
	msd_buf_finish(&out);
	msd_tree_finish(&again);
	msd_tree_finish(&numbered);
}

static uint32_t next(uint64_t *state, uint32_t below)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)(*state >> 33) % below;
}

/* Deep ones, wide ones, diamonds, several libraries: edges go to higher numbers. */
static void make_random(struct made *m, uint64_t *state)
{
	uint32_t n = 1 + next(state, MANY);
	uint32_t reach = 1 + next(state, MANY); /* 1: a chain */
	uint32_t libraries = 1 + next(state, 5);

	for (uint32_t i = 0; i < n; i++) {
		made_add(m, next(state, libraries) == 0 ? "_lib" : "metadata_module",
			 "");
	}
	for (uint32_t child = 1; child < n; child++) {
		uint32_t parents = 1 + next(state, 3);

		while (parents-- > 0) {
			made_import(m,
				    child - 1 -
					    next(state, reach < child ? reach : child),
				    child);
		}
	}
}

Test(tree_write, made_up_trees_survive_every_style)
{
	uint64_t state = 7;

	for (int round = 0; round < 400; round++) {
		struct made m = {0};

		make_random(&m, &state);
		expect_survives(&m, MSD_TREE_07);
		expect_survives(&m, MSD_TREE_08);
		expect_survives(&m, MSD_TREE_022);
	}
}
