/* Damaged variants of what real compilers wrote: the corpora's files of tests/releases,
 * cut out of the libraries by tests/fuzz/make_release_corpus.py. */
#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>

#include "artifact/relax/image.h"
#include "artifact/relay/image.h"
#include "artifact/tree/tree.h"
#include "tests/artifact/fixture.h"
#include "tests/artifact/mangle.h"

static bool reads_relay(struct msd_span image, void *ctx)
{
	struct msd_relay_image img = {0};

	(void)ctx;
	msd_err err = msd_relay_image_read(image, &img, NULL);
	msd_relay_image_finish(&img);
	return err == MSD_OK;
}

static bool reads_relax(struct msd_span image, void *ctx)
{
	const enum msd_era *era = ctx;
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(image, *era, &img, NULL);

	msd_relax_image_finish(&img);
	return err == MSD_OK;
}

static bool reads_blob(struct msd_span blob, void *ctx)
{
	const enum msd_era *era = ctx;
	struct msd_tree tree = {0};
	msd_err err = msd_tree_read_blob(blob, *era, &tree, NULL);

	msd_tree_finish(&tree);
	return err == MSD_OK;
}

/* Every file of @corpus is read whole, and none of its prefixes is. */
static void expect_no_prefix_is_read(const char *corpus, bool has_era,
				     mangle_read *read)
{
	char pattern[4096];
	glob_t found;

	(void)snprintf(pattern, sizeof(pattern), CORPUS_DIR "/%s/accept_release_*",
		       corpus);
	cr_assert_eq(glob(pattern, 0, NULL, &found), 0, "no file is %s", pattern);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct bw file = fixture_read(found.gl_pathv[i]);
		struct msd_span bytes = bw_span(&file);
		enum msd_era era = MSD_ERA_NONE;

		if (has_era) {
			era = (enum msd_era)bytes.p[0];
			bytes = (struct msd_span){bytes.p + 1, bytes.n - 1};
		}
		cr_expect(read(bytes, &era), "%s is refused", found.gl_pathv[i]);
		cr_expect_eq(mangle_prefixes(bytes, read, &era), 0,
			     "a part of %s is accepted", found.gl_pathv[i]);
		bw_free(&file);
	}
	globfree(&found);
}

Test(release_images, no_prefix_of_a_relay_program_is_read)
{
	expect_no_prefix_is_read("relay_image", false, reads_relay);
}

Test(release_images, no_prefix_of_a_relax_program_is_read)
{
	expect_no_prefix_is_read("relax_image", true, reads_relax);
}

Test(release_images, no_prefix_of_a_blob_is_read)
{
	expect_no_prefix_is_read("blob", true, reads_blob);
}
