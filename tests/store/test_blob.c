#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/blob.h"
#include "tests/store/shelf.h"

static const size_t sizes[] = {0, 1, 4095, 262144, 262145, 1000003};

Test(blob, comes_back_as_it_was_written)
{
	struct msd_digest digest;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++) {
		cr_assert_eq(shelf_put(&s, i, sizes[i], &digest, &d), MSD_OK, "%s",
			     msd_diag_text(&d));
		cr_assert(msd_blob_exists(&s.store, &digest, sizes[i]));
		cr_assert(shelf_has(&s, i, sizes[i]), "%zu bytes", sizes[i]);
	}
	shelf_finish(&s);
}

Test(blob, is_read_in_pieces_up_to_its_end)
{
	uint8_t *bytes = shelf_bytes(3, 1000), piece[700];
	struct msd_digest digest;
	struct msd_diag d = {0};
	struct shelf s;
	size_t n = 1;

	shelf_init(&s);
	cr_assert_eq(shelf_put(&s, 3, 1000, &digest, &d), MSD_OK);
	cr_assert_eq(msd_blob_read(&s.store, &digest, 300, piece, 700, &n, &d), MSD_OK);
	cr_assert_eq(n, 700);
	cr_assert_arr_eq(piece, bytes + 300, 700);
	cr_assert_eq(msd_blob_read(&s.store, &digest, 999, piece, 700, &n, &d), MSD_OK);
	cr_assert_eq(n, 1);
	cr_assert_eq(msd_blob_read(&s.store, &digest, UINT64_MAX, piece, 700, &n, &d),
		     MSD_OK);
	cr_assert_eq(n, 0);
	msd_digest_of((struct msd_span){bytes, 1}, &digest);
	cr_assert_eq(msd_blob_read(&s.store, &digest, 0, piece, 700, &n, &d),
		     MSD_NOT_FOUND);
	msd_diag_finish(&d);
	shelf_finish(&s);
	free(bytes);
}

Test(blob, is_gone_on_with_where_its_writer_ended)
{
	uint8_t *bytes = shelf_bytes(7, 300000);
	struct msd_blob_writer w;
	struct msd_digest digest;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	msd_digest_of((struct msd_span){bytes, 300000}, &digest);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 300000, &d), MSD_OK);
	cr_assert_eq(msd_blob_write(&w, (struct msd_span){bytes, 299000}, &d), MSD_OK);
	msd_blob_abort(&w, true);
	cr_assert_eq(shelf_reopen(&s), MSD_OK);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 300000, &d), MSD_OK);
	cr_assert_eq(w.written, 299000, "%llu", (unsigned long long)w.written);
	msd_blob_abort(&w, true);
	cr_assert_eq(shelf_put(&s, 7, 300000, &digest, &d), MSD_OK);
	cr_assert(shelf_has(&s, 7, 300000));
	shelf_finish(&s);
	free(bytes);
}

Test(blob, with_other_bytes_than_its_digest_is_thrown_away)
{
	struct msd_digest digest;
	struct msd_blob_writer w;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	msd_digest_of((struct msd_span){(const uint8_t *)"abc", 3}, &digest);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 3, &d), MSD_OK);
	cr_assert_eq(
		msd_blob_write(&w, (struct msd_span){(const uint8_t *)"abd", 3}, &d),
		MSD_OK);
	cr_assert_eq(msd_blob_commit(&w, &d), MSD_BAD_ARTIFACT);
	cr_assert_not(msd_blob_exists(&s.store, &digest, 3));
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 3, &d), MSD_OK);
	cr_assert_eq(w.written, 0, "nothing of it is gone on with");
	msd_blob_abort(&w, false);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(blob, that_is_short_is_said_to_be_and_kept)
{
	struct msd_digest digest;
	struct msd_blob_writer w;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	msd_digest_of((struct msd_span){(const uint8_t *)"abc", 3}, &digest);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 3, &d), MSD_OK);
	cr_assert_eq(
		msd_blob_write(&w, (struct msd_span){(const uint8_t *)"ab", 2}, &d),
		MSD_OK);
	cr_assert_eq(msd_blob_commit(&w, &d), MSD_BAD_ARTIFACT);
	cr_assert(strstr(msd_diag_text(&d), "2 of 3 bytes") != NULL);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 3, &d), MSD_OK);
	cr_assert_eq(w.written, 2);
	msd_blob_abort(&w, false);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(blob, refuses_more_than_was_said)
{
	struct msd_digest digest;
	struct msd_blob_writer w;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	msd_digest_of((struct msd_span){(const uint8_t *)"abc", 3}, &digest);
	cr_assert_eq(msd_blob_begin(&w, &s.store, &digest, 3, &d), MSD_OK);
	cr_assert_eq(
		msd_blob_write(&w, (struct msd_span){(const uint8_t *)"abcd", 4}, &d),
		MSD_TOO_LARGE);
	msd_blob_abort(&w, false);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(blob, that_changed_on_the_disk_is_not_given_out)
{
	struct msd_digest digest;
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(shelf_put(&s, 3, 5000, &digest, &d), MSD_OK);
	shelf_damage(&s, 3, 5000);
	cr_assert_eq(msd_blob_check(&s.store, &digest, 5000, &d), MSD_BAD_ARTIFACT);
	cr_assert_not(shelf_has(&s, 3, 5000));
	msd_diag_finish(&d);
	shelf_finish(&s);
}

/* A FIFO without a writer, on which an open() waits for one. */
static void replace_by_fifo(int folder, const char *name)
{
	cr_assert_eq(unlinkat(folder, name, 0), 0);
	cr_assert_eq(mkfifoat(folder, name, 0600), 0);
}

Test(blob, in_whose_place_is_no_file_is_damaged_and_not_waited_for, .timeout = 60)
{
	char text[MSD_DIGEST_TEXT], path[MSD_DIGEST_TEXT + 3];
	struct msd_blob_writer w;
	struct msd_digest digest;
	struct msd_diag d = {0};
	uint8_t byte;
	struct shelf s;
	size_t n;

	shelf_init(&s);
	cr_assert_eq(shelf_put(&s, 3, 5000, &digest, &d), MSD_OK);
	msd_digest_format(&digest, text);
	(void)snprintf(path, sizeof(path), "%.2s/%s", text, text);
	replace_by_fifo(s.store.blobs, path);
	cr_expect_eq(msd_blob_check(&s.store, &digest, 5000, &d), MSD_BAD_ARTIFACT);
	cr_expect_eq(msd_blob_read(&s.store, &digest, 0, &byte, 1, &n, &d),
		     MSD_BAD_ARTIFACT);
	cr_assert_eq(mkfifoat(s.store.partial, text, 0600), 0);
	cr_expect_eq(msd_blob_begin(&w, &s.store, &digest, 5000, &d), MSD_BAD_ARTIFACT);
	replace_by_fifo(s.store.dir, "lock");
	cr_expect_eq(shelf_reopen(&s), MSD_BAD_ARTIFACT);
	msd_diag_finish(&d);
	shelf_finish(&s);
}

Test(blob, is_copied_from_a_file_at_any_place)
{
	uint8_t *bytes = shelf_bytes(9, 600000);
	struct msd_digest digest;
	struct msd_diag d = {0};
	struct shelf s;
	int fd = memfd_create("from", MFD_CLOEXEC);

	shelf_init(&s);
	cr_assert_eq(write(fd, bytes, 600000), 600000); /* its place is its end now */
	msd_digest_of((struct msd_span){bytes, 600000}, &digest);
	cr_assert_eq(msd_blob_put(&s.store, fd, 0, &digest, 600000, &d), MSD_OK);
	cr_assert(shelf_has(&s, 9, 600000));
	cr_assert_eq(msd_blob_put(&s.store, -1, 0, &digest, 600000, &d), MSD_OK,
		     "what is there is not read again");
	shelf_damage(&s, 9, 600000);
	cr_assert_eq(msd_blob_put(&s.store, fd, 0, &digest, 600000, &d), MSD_OK);
	cr_assert(shelf_has(&s, 9, 600000), "what is damaged is written anew");
	(void)close(fd);
	shelf_finish(&s);
	free(bytes);
}

Test(blob, may_be_a_part_of_a_file)
{
	uint8_t *bytes = shelf_bytes(9, 600000);
	struct msd_digest digest, found;
	struct msd_diag d = {0};
	struct shelf s;
	int fd = memfd_create("from", MFD_CLOEXEC);

	shelf_init(&s);
	cr_assert_eq(write(fd, bytes, 600000), 600000);
	msd_digest_of((struct msd_span){bytes + 1000, 500000}, &digest);
	cr_assert_eq(msd_blob_hash(fd, 1000, 500000, &found, &d), MSD_OK);
	cr_assert(msd_digest_equal(&found, &digest));
	cr_assert_eq(msd_blob_put(&s.store, fd, 1000, &digest, 500000, &d), MSD_OK);
	cr_assert_eq(msd_blob_check(&s.store, &digest, 500000, &d), MSD_OK);
	cr_assert_eq(msd_blob_hash(fd, 1000, 600000, &found, &d), MSD_BAD_ARTIFACT);
	msd_diag_finish(&d);
	(void)close(fd);
	shelf_finish(&s);
	free(bytes);
}
