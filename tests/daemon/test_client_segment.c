#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/supervisor/request/client_segment.h"

#define SIZE_SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

static int make_memfd(int seals)
{
	const int fd = memfd_create("lent", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	cr_assert_geq(fd, 0);
	cr_assert_eq(ftruncate(fd, 4096), 0);
	cr_assert_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static struct msd_client_segment *lend(struct msd_client_segments *all)
{
	struct msd_client_segment seen, *l = NULL;
	const int fd = make_memfd(SIZE_SEALS);

	cr_assert_eq(msd_client_segment_check(fd, 4096, &seen, NULL), MSD_OK);
	cr_assert_eq(msd_client_segment_make(all, fd, &seen, &l, NULL), MSD_OK);
	return l;
}

static void expect_refused(int fd, uint64_t bytes, const char *why)
{
	struct msd_client_segment seen;
	struct msd_diag d = {0};

	cr_expect_eq(msd_client_segment_check(fd, bytes, &seen, &d), MSD_BAD_REQUEST,
		     "%s", why);
	cr_expect_not_null(strstr(msd_diag_text(&d), why), "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	(void)close(fd);
}

Test(loan, says_what_a_descriptor_lacks)
{
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	expect_refused(ends[0], 4096, "not a memfd");
	expect_refused(make_memfd(0), 4096, "F_SEAL_SHRINK");
	expect_refused(make_memfd(F_SEAL_SHRINK | F_SEAL_SEAL), 4096, "F_SEAL_GROW");
	expect_refused(make_memfd(F_SEAL_SHRINK | F_SEAL_GROW), 4096, "F_SEAL_SEAL");
	expect_refused(make_memfd(SIZE_SEALS), 4095, "4096 bytes, not the 4095");
	expect_refused(make_memfd(SIZE_SEALS), 0, "a segment of 0 bytes");
	(void)close(ends[1]);
}

Test(loan, that_is_sealed_or_opened_for_reading_cannot_be_written)
{
	char path[64];
	struct msd_client_segment seen;
	int fd = make_memfd(SIZE_SEALS);

	cr_assert_eq(msd_client_segment_check(fd, 4096, &seen, NULL), MSD_OK);
	cr_expect(seen.is_writable);
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const int again = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_eq(msd_client_segment_check(again, 4096, &seen, NULL), MSD_OK);
	cr_expect_not(seen.is_writable);
	(void)close(fd);
	(void)close(again);
	fd = make_memfd(SIZE_SEALS | F_SEAL_WRITE);
	cr_assert_eq(msd_client_segment_check(fd, 4096, &seen, NULL), MSD_OK);
	cr_expect_not(seen.is_writable);
	(void)close(fd);
}

struct holder {
	struct msd_segment_user borrower;
	int n_told;
};

static void count_told(struct msd_segment_user *b)
{
	MSD_CONTAINER_OF(b, struct holder, borrower)->n_told++;
}

Test(loan, ends_with_its_last_user_and_tells_who_was_given_it)
{
	static struct msd_client_segments all;
	struct holder holder = {.borrower = {.take_back = count_told}};
	struct msd_segment_lookup *named = NULL;
	struct msd_client_segment *l = lend(&all);

	cr_expect(msd_segment_lookup_add(&named, l) &&
		  msd_segment_lookup_add(&named, l));
	cr_expect_eq(named->n, 1);
	cr_expect_eq(msd_segment_lookup_find(named, l->number), l);
	cr_expect_null(msd_segment_lookup_find(named, 7));
	holder.borrower.loan = l;
	msd_list_append(&l->borrowers, &holder.borrower.of_loan);
	msd_client_segment_unref(l); /* its client goes; the request is still there */
	cr_expect_eq(holder.n_told, 0);
	cr_expect_eq(all.bytes, 4096);
	msd_segment_lookup_end(&named);
	cr_expect_eq(holder.n_told, 1);
	cr_expect(all.n == 0 && all.bytes == 0 && named == NULL);
}

Test(loan, has_a_number_of_its_own_until_there_are_none)
{
	static struct msd_client_segments all;
	struct msd_client_segment seen, *l = NULL;
	struct msd_client_segment *first = lend(&all);
	struct msd_client_segment *second = lend(&all);

	cr_expect(first->number == 0 && second->number == 1);
	msd_client_segment_unref(first);
	first = lend(&all);
	cr_expect_eq(first->number, 0);
	for (unsigned i = 2; i < MSD_MAX_LENT; i++)
		all.at[i] = second;
	const int fd = make_memfd(SIZE_SEALS);
	cr_assert_eq(msd_client_segment_check(fd, 4096, &seen, NULL), MSD_OK);
	cr_expect_eq(msd_client_segment_make(&all, fd, &seen, &l, NULL), MSD_BUSY);
	cr_expect_eq(fcntl(fd, F_GETFD), FD_CLOEXEC, "it is the caller's still");
	(void)close(fd);
	for (unsigned i = 2; i < MSD_MAX_LENT; i++)
		all.at[i] = NULL;
	msd_client_segment_unref(first);
	msd_client_segment_unref(second);
}
