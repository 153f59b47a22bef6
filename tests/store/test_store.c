#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "tests/store/shelf.h"

static void write_file(const struct shelf *s, const char *name, const char *text)
{
	int fd = openat(s->store.dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC,
			0644);

	cr_assert_geq(fd, 0);
	cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	(void)close(fd);
}

static msd_err open_again(const struct shelf *s, enum msd_store_mode mode)
{
	struct msd_store other;
	struct msd_diag d = {0};
	msd_err err = msd_store_open(&other, s->path, mode, &d);

	cr_expect(err == MSD_OK || strstr(msd_diag_text(&d), s->path) != NULL,
		  "names its folder: %s", msd_diag_text(&d));
	msd_diag_finish(&d);
	if (err == MSD_OK)
		msd_store_close(&other);
	return err;
}

Test(store, has_one_writer_and_any_readers)
{
	struct shelf s;

	shelf_init(&s);
	cr_assert_eq(open_again(&s, MSD_STORE_WRITE), MSD_BUSY);
	cr_assert_eq(open_again(&s, MSD_STORE_READ), MSD_OK);
	msd_store_close(&s.store);
	cr_assert_eq(open_again(&s, MSD_STORE_WRITE), MSD_OK);
	cr_assert_eq(shelf_reopen(&s), MSD_OK);
	shelf_finish(&s);
}

Test(store, is_not_made_for_who_reads)
{
	struct msd_store s;
	struct msd_diag d = {0};

	cr_assert_eq(msd_store_open(&s, "/dev/shm/modserd-no-such-store",
				    MSD_STORE_READ, &d),
		     MSD_NOT_FOUND);
	msd_diag_finish(&d);
	cr_assert_neq(access("/dev/shm/modserd-no-such-store", F_OK), 0);
}

Test(store, of_another_version_is_left_alone)
{
	struct shelf s;

	shelf_init(&s);
	write_file(&s, "version", "modserd-store 2\n");
	msd_store_close(&s.store);
	cr_assert_eq(open_again(&s, MSD_STORE_WRITE), MSD_UNSUPPORTED);
	cr_assert_eq(open_again(&s, MSD_STORE_READ), MSD_UNSUPPORTED);
	shelf_finish(&s);
}

Test(store, is_not_made_among_other_files)
{
	struct shelf s;

	shelf_init(&s);
	write_file(&s, "letters.txt", "dear");
	cr_assert_eq(unlinkat(s.store.dir, "version", 0), 0);
	msd_store_close(&s.store);
	cr_assert_eq(open_again(&s, MSD_STORE_WRITE), MSD_BAD_ARTIFACT);
	shelf_finish(&s);
}

Test(store, is_checked_without_being_made)
{
	struct msd_diag d = {0};
	struct shelf s;

	shelf_init(&s);
	cr_expect_eq(msd_store_check(s.path, &d), MSD_OK, "a writer has it");
	cr_expect_eq(msd_store_check("/dev/shm/modserd-no-such-store", &d), MSD_OK);
	cr_expect_neq(access("/dev/shm/modserd-no-such-store", F_OK), 0);
	write_file(&s, "version", "modserd-store 2\n");
	cr_expect_eq(msd_store_check(s.path, &d), MSD_UNSUPPORTED);
	msd_diag_finish(&d);
	cr_expect_eq(msd_store_check("/proc/self", &d), MSD_BAD_ARTIFACT);
	msd_diag_finish(&d);
	cr_expect_eq(msd_store_check("/proc/self/status", &d), MSD_IO);
	msd_diag_finish(&d);
	shelf_finish(&s);
}
