/* Parameters that move out of their modules, and back. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/params/params.h"
#include "artifact/relax/image.h"
#include "artifact/tree/write.h"
#include "pack/split_params.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/mangle.h"

/* Parameter files that stores and images of the running test borrow from. */
static struct msd_buf files[16];
static size_t n_files;

static struct msd_buf *new_file(void)
{
	cr_assert_lt(n_files, sizeof(files) / sizeof(*files));
	return &files[n_files++];
}

static void free_files(void)
{
	while (n_files > 0)
		msd_buf_finish(&files[--n_files]);
}

TestSuite(split_params, .fini = free_files);

static struct golden_blob *find(const char *name, size_t *ret_n,
				struct golden_blob **ret)
{
	struct golden_blob *all = golden_blobs(ret_n);

	for (size_t i = 0; i < *ret_n; i++) {
		if (strcmp(all[i].name, name) == 0)
			*ret = &all[i];
	}
	return all;
}

/* Split golden blob @name into @store; its new blob goes to @ret. */
static msd_err split(const char *name, struct msd_param_store *store,
		     struct msd_buf *ret, struct msd_diag *d)
{
	struct golden_blob *g = NULL;
	struct msd_buf payloads[16] = {{0}};
	struct msd_tree tree = {0};
	size_t n;
	struct golden_blob *all = find(name, &n, &g);

	cr_assert_not_null(g);
	/* Its relay program is made one of a release that is not known. */
	uint8_t *version = memmem(g->bytes.p, g->bytes.n, "0.14.0", 6);
	if (version != NULL)
		version[2] = '0';
	cr_assert_eq(msd_tree_read_blob(bw_span(&g->bytes), g->era, &tree, NULL),
		     MSD_OK);
	msd_err err = msd_split_params(&tree, g->era, MSD_SPLIT_BY_CONTENT, store,
				       payloads, d);
	if (err == MSD_OK)
		err = msd_tree_write(&tree, ret, d);
	if (err == MSD_OK) { /* the store borrows from what goes away here */
		struct msd_buf *file = new_file();
		struct msd_param_store kept = {0};

		cr_assert_eq(msd_param_store_write(store, file, d), MSD_OK);
		cr_assert_eq(msd_param_store_open((struct msd_span){file->p, file->n},
						  &kept, d),
			     MSD_OK);
		msd_param_store_finish(store);
		*store = kept;
	}
	for (size_t i = 0; i < 16; i++)
		msd_buf_finish(&payloads[i]);
	msd_tree_finish(&tree);
	golden_blobs_free(all, n);
	return err;
}

/* The Relax image at module 0 of @blob, bound with what @store has. */
static msd_err bind_relax(const struct msd_buf *blob, enum msd_era era,
			  const struct msd_param_store *store,
			  struct msd_relax_image *ret, struct msd_tree *tree,
			  struct msd_params *params, struct msd_diag *d)
{
	struct msd_buf *file = new_file(); /* the image borrows from it */

	cr_assert_eq(
		msd_tree_read_blob((struct msd_span){blob->p, blob->n}, era, tree, d),
		MSD_OK);
	cr_assert_eq(msd_relax_image_read(tree->modules[0].payload, era, ret, d),
		     MSD_OK);
	cr_assert_eq(msd_param_store_write(store, file, d), MSD_OK);
	cr_assert_eq(
		msd_params_read_file((struct msd_span){file->p, file->n}, params, d),
		MSD_OK);
	return msd_relax_image_bind(ret, params, d);
}

static const struct {
	const char *name;
	enum msd_era era;
} relax_blobs[] = {{"016_relax", MSD_ERA_CLASSIC},
		   {"020_relax", MSD_ERA_CLASSIC},
		   {"021_relax", MSD_ERA_FFI_021},
		   {"022_relax", MSD_ERA_FFI}};

Test(split_params, constants_of_a_relax_program_come_back)
{
	for (size_t i = 0; i < sizeof(relax_blobs) / sizeof(*relax_blobs); i++) {
		struct msd_param_store store = {0};
		struct msd_relax_image img = {0};
		struct msd_params params = {0};
		struct msd_tree tree = {0};
		struct msd_buf blob = {0};
		struct msd_diag d = {0};
		size_t n_tensors = 0;

		cr_assert_eq(split(relax_blobs[i].name, &store, &blob, &d), MSD_OK,
			     "%s: %s", relax_blobs[i].name, msd_diag_text(&d));
		cr_expect_eq(store.n, 1);
		cr_assert_eq(bind_relax(&blob, relax_blobs[i].era, &store, &img, &tree,
					&params, &d),
			     MSD_OK, "%s", msd_diag_text(&d));
		for (size_t k = 0; k < img.n_consts; k++)
			n_tensors += img.consts[k].kind == MSD_RELAX_TENSOR;
		cr_expect_eq(n_tensors, 1, "%s", relax_blobs[i].name);
		msd_relax_image_finish(&img);
		msd_params_finish(&params);
		msd_tree_finish(&tree);
		msd_buf_finish(&blob);
		msd_param_store_finish(&store);
	}
}

Test(split_params, a_program_without_its_parameters_names_one)
{
	struct msd_param_store store = {0}, none = {0};
	struct msd_relax_image img = {0};
	struct msd_params params = {0};
	struct msd_tree tree = {0};
	struct msd_buf blob = {0};
	struct msd_diag d = {0};

	cr_assert_eq(split("022_relax", &store, &blob, &d), MSD_OK);
	cr_expect_eq(bind_relax(&blob, MSD_ERA_FFI, &none, &img, &tree, &params, &d),
		     MSD_UNSUPPORTED);
	cr_expect(strstr(msd_diag_text(&d), "const_") != NULL);
	cr_expect(strstr(msd_diag_text(&d), "--params") != NULL);
	msd_relax_image_finish(&img);
	msd_params_finish(&params);
	msd_tree_finish(&tree);
	msd_buf_finish(&blob);
	msd_param_store_finish(&store);
	msd_diag_finish(&d);
}

Test(split_params, two_graphs_share_what_is_the_same)
{
	struct msd_param_store store = {0};
	struct msd_buf one = {0}, two = {0};
	struct msd_diag d = {0};

	cr_assert_eq(split("08_factory_diamond", &store, &one, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	cr_expect_eq(store.n, 1);
	cr_expect(msd_span_is(store.params[0].name, "p0"));
	cr_assert_eq(split("08_factory_diamond", &store, &two, &d), MSD_OK);
	cr_expect_eq(store.n, 1);
	cr_expect_eq(store.n_given, 1);
	msd_buf_finish(&one);
	msd_buf_finish(&two);
	msd_param_store_finish(&store);
}

Test(split_params, another_tensor_of_the_same_name_is_refused)
{
	struct msd_param_store store = {0};
	struct msd_span name = {(const uint8_t *)"p0", 2};
	struct msd_span other = {(const uint8_t *)"other", 5};
	struct msd_buf blob = {0};
	struct msd_diag d = {0};

	cr_assert_eq(msd_param_store_add(&store, name, other, &d), MSD_OK);
	cr_expect_eq(split("08_factory_diamond", &store, &blob, &d), MSD_BAD_REQUEST);
	cr_expect(strstr(msd_diag_text(&d), "another parameter p0") != NULL, "%s",
		  msd_diag_text(&d));
	msd_buf_finish(&blob);
	msd_param_store_finish(&store);
	msd_diag_finish(&d);
}

Test(split_params, what_cannot_be_read_stays)
{
	struct msd_param_store store = {0};
	struct msd_buf blob = {0};
	struct msd_diag d = {0};

	cr_assert_eq(split("014_many_kinds", &store, &blob, &d), MSD_OK, "%s",
		     msd_diag_text(&d));
	cr_expect_eq(store.n, 0);
	msd_buf_finish(&blob);
	msd_param_store_finish(&store);
}

static bool opens(struct msd_span bytes, void *ctx)
{
	struct msd_param_store store = {0};
	bool ok = msd_param_store_open(bytes, &store, NULL) == MSD_OK;

	(void)ctx;
	msd_param_store_finish(&store);
	return ok && bytes.n > 0;
}

Test(split_params, every_prefix_of_a_file_is_refused)
{
	struct msd_param_store store = {0};
	struct msd_buf blob = {0}, file = {0};

	cr_assert_eq(split("08_factory_diamond", &store, &blob, NULL), MSD_OK);
	cr_assert_eq(msd_param_store_write(&store, &file, NULL), MSD_OK);
	struct msd_span bytes = {file.p, file.n};
	cr_expect_eq(mangle_prefixes(bytes, opens, NULL), 0);
	cr_expect(mangle_flips(bytes, opens, NULL));
	msd_buf_finish(&file);
	msd_buf_finish(&blob);
	msd_param_store_finish(&store);
}
