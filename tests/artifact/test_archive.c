/* Archives that unpack to far more than they are. */
#include <archive.h>
#include <archive_entry.h>
#include <criterion/criterion.h>

#include "artifact/mlf/archive.h"
#include "tests/artifact/tar_writer.h"

#define CHUNK ((size_t)1 << 20)

/* A gzipped tar of one file of @n chunks of zeros, in @out of @max bytes. */
static size_t zip_zeros(size_t n, uint8_t *out, size_t max)
{
	static const uint8_t zeros[CHUNK];
	struct archive *a = archive_write_new();
	struct archive_entry *entry = archive_entry_new();
	size_t used = 0;

	cr_assert_eq(archive_write_add_filter_gzip(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_set_format_ustar(a), ARCHIVE_OK);
	cr_assert_eq(archive_write_open_memory(a, out, max, &used), ARCHIVE_OK);
	archive_entry_set_pathname(entry, "metadata.json");
	archive_entry_set_filetype(entry, AE_IFREG);
	archive_entry_set_size(entry, (la_int64_t)(n * CHUNK));
	cr_assert_eq(archive_write_header(a, entry), ARCHIVE_OK);
	for (size_t i = 0; i < n; i++)
		cr_assert_gt(archive_write_data(a, zeros, CHUNK), 0);
	archive_entry_free(entry);
	cr_assert_eq(archive_write_close(a), ARCHIVE_OK);
	archive_write_free(a);
	return used;
}

Test(archive, a_bomb_is_refused_and_a_small_one_is_not)
{
	static uint8_t out[CHUNK];
	struct msd_archive a = {0};

	size_t n = zip_zeros(1, out, sizeof(out));
	cr_assert_eq(msd_archive_read((struct msd_span){out, n}, &a, NULL), MSD_OK);
	cr_expect_eq(a.files[0].data.n, CHUNK);
	msd_archive_finish(&a);
	n = zip_zeros(96, out, sizeof(out));
	cr_expect_eq(msd_archive_read((struct msd_span){out, n}, &a, NULL),
		     MSD_BAD_ARTIFACT);
	cr_expect(!msd_archive_is_model((struct msd_span){out, 0}));
}

Test(archive, a_cut_gzip_is_refused)
{
	static uint8_t out[CHUNK];
	size_t n = zip_zeros(1, out, sizeof(out));
	struct msd_archive a = {0};

	for (size_t k = 0; k < n - 8; k += 7) {
		cr_expect_neq(msd_archive_read((struct msd_span){out, k}, &a, NULL),
			      MSD_OK, "%zu of %zu bytes", k, n);
	}
}

Test(archive, what_is_cut_off_is_told_by_its_name_or_its_compression)
{
	static uint8_t out[CHUNK];
	const size_t n = zip_zeros(1, out, sizeof(out));
	struct bw w = {0};

	cr_expect_eq(msd_archive_check_whole("x", (struct msd_span){out, n}, NULL),
		     MSD_OK);
	for (size_t k = 2; k < n - 8; k++) {
		cr_expect_eq(
			msd_archive_check_whole("x", (struct msd_span){out, k}, NULL),
			MSD_BAD_ARTIFACT, "%zu of %zu bytes", k, n);
	}
	tar_put_text(&w, "metadata.json", "{}");
	tar_end(&w);
	for (size_t k = 1; k <= w.n; k++) {
		const struct msd_span cut = {w.p, k};

		cr_expect_eq(msd_archive_check_whole("a/model.tar", cut, NULL),
			     k < 512 ? MSD_BAD_ARTIFACT : MSD_OK);
		cr_expect_eq(msd_archive_check_whole("model.so", cut, NULL), MSD_OK);
	}
	bw_free(&w);
	cr_expect_eq(msd_archive_check_whole(
			     "x.tar", (struct msd_span){(const uint8_t *)"\177ELF", 4},
			     NULL),
		     MSD_OK);
}

Test(archive, more_entries_than_the_limit_are_refused)
{
	struct msd_archive a = {0};
	struct bw w = {0};

	for (unsigned i = 0; i <= MSD_ARCHIVE_MAX_FILES; i++)
		tar_put(&w, "folder/", '5', "", 0);
	tar_end(&w);
	cr_expect_eq(msd_archive_read(bw_span(&w), &a, NULL), MSD_BAD_ARTIFACT);
	bw_free(&w);
}
