#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "proto/base/fd_read.h"
#include "tests/support/fail_alloc.h"

/* A file that contains "12345678", at its beginning. */
static FILE *eight_bytes(void)
{
	FILE *f = tmpfile();

	cr_assert_not_null(f);
	cr_assert_eq(fwrite("12345678", 1, 8, f), 8);
	cr_assert_eq(fflush(f), 0);
	cr_assert_eq(lseek(fileno(f), 0, SEEK_SET), 0);
	return f;
}

Test(fd_read, appends_a_file_up_to_the_limit)
{
	struct msd_buf b = {0};
	FILE *f = eight_bytes();

	msd_buf_put(&b, "0", 1);
	cr_expect_eq(msd_fd_read(fileno(f), 9, &b), MSD_OK);
	cr_expect(msd_span_is((struct msd_span){b.p, b.n}, "012345678"));
	msd_buf_finish(&b);
	(void)fclose(f);
}

Test(fd_read, refuses_one_byte_over_the_limit)
{
	struct msd_buf b = {0};
	FILE *f = eight_bytes();

	cr_expect_eq(msd_fd_read(fileno(f), 7, &b), MSD_TOO_LARGE);
	msd_buf_finish(&b);
	(void)fclose(f);
}

Test(fd_read, reads_a_pipe_to_its_end)
{
	struct msd_buf b = {0};
	int ends[2];

	cr_assert_eq(pipe(ends), 0);
	cr_assert_eq(write(ends[1], "abc", 3), 3);
	(void)close(ends[1]);
	cr_expect_eq(msd_fd_read(ends[0], 3, &b), MSD_OK);
	cr_expect(msd_span_is((struct msd_span){b.p, b.n}, "abc"));
	msd_buf_finish(&b);
	(void)close(ends[0]);
}

Test(fd_read, reports_short_memory_and_a_failed_read)
{
	struct msd_buf b = {0};
	FILE *f = eight_bytes();

	msd_fail_alloc(0);
	cr_expect_eq(msd_fd_read(fileno(f), 8, &b), MSD_NOMEM);
	cr_expect(msd_fail_alloc_stop());
	(void)fclose(f);
	b.bad = false;
	cr_expect_eq(msd_fd_read(-1, 8, &b), MSD_IO);
	cr_expect_eq(errno, EBADF);
	msd_buf_finish(&b);
}
