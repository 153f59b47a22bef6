#include <criterion/criterion.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/supervisor/keep/attachment.h"
#include "daemon/supervisor/module/life/self_test_plan.h"
#include "daemon/supervisor/repository/stored_edition.h"
#include "store/blob.h"
#include "store/record.h"
#include "tests/store/shelf.h"

static struct shelf shelf;
static struct msd_edition edition;
static struct msd_stored_self_tests trial;

static void begin(void)
{
	shelf_init(&shelf);
}

static void end(void)
{
	msd_stored_self_tests_finish(&trial);
	shelf_finish(&shelf);
}

TestSuite(kept_trial, .init = begin, .fini = end);

/* The file @fd is the self-tests of the edition. */
static void keep(int fd, uint64_t bytes)
{
	struct msd_digest digest;

	cr_assert_eq(msd_blob_hash(fd, 0, bytes, &digest, NULL), MSD_OK);
	cr_assert_eq(msd_blob_put(&shelf.store, fd, 0, &digest, bytes, NULL), MSD_OK);
	cr_assert_eq(msd_edition_add_file(&edition, MSD_ROLE_TEST, bytes, &digest,
					  msd_span_of("t"), NULL),
		     MSD_OK);
	(void)close(fd);
}

static void keep_bytes(const struct msd_buf *b)
{
	const int fd = memfd_create("kept", MFD_CLOEXEC);

	cr_assert_eq(write(fd, b->p, b->n), (ssize_t)b->n);
	keep(fd, b->n);
}

static msd_err read_back(void)
{
	return msd_stored_self_tests_read(&shelf.store, &edition, &trial, NULL);
}

/* Tests of two functions that take and give nothing. */
static struct msd_buf two_tests(void)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	for (unsigned i = 0; i < 2; i++) {
		msd_pack_map(&b, 3);
		msd_pack_pair_str(&b, "function", "f");
		msd_pack_cstr(&b, "inputs");
		msd_pack_array(&b, 0);
		msd_pack_cstr(&b, "outputs");
		msd_pack_array(&b, 0);
	}
	return b;
}

Test(kept_trial, is_read_as_it_was_written)
{
	struct msd_self_test t = {.n = 8, .n_each = 2, .tests = two_tests()};
	struct msd_attachment paper;

	cr_assert_eq(msd_stored_self_tests_write(&t, &paper, NULL), MSD_OK);
	keep(paper.fd, paper.bytes);
	cr_assert_eq(read_back(), MSD_OK);
	cr_assert_eq(trial.warmup, 3);
	cr_assert_eq(trial.tests.n, t.tests.n);
	cr_assert_eq(memcmp(trial.tests.p, t.tests.p, t.tests.n), 0);
	msd_buf_finish(&t.tests);
}

Test(kept_trial, of_an_edition_without_one_is_none)
{
	cr_assert_eq(read_back(), MSD_OK);
	cr_assert_eq(trial.tests.n, 0);
}

Test(kept_trial, that_is_something_else_is_refused)
{
	struct msd_buf b = {0};

	msd_buf_put(&b, "nonsense", 8);
	keep_bytes(&b);
	cr_assert_eq(read_back(), MSD_BAD_ARTIFACT);
	msd_buf_finish(&b);
}

Test(kept_trial, whose_tests_cannot_be_read_is_refused)
{
	struct msd_buf b = {0};

	msd_pack_array(&b, 2);
	msd_pack_uint(&b, 0);
	msd_pack_bin(&b, "\xc1", 1);
	keep_bytes(&b);
	cr_assert_eq(read_back(), MSD_BAD_REQUEST);
	msd_buf_finish(&b);
}
