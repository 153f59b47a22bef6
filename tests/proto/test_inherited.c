#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "proto/base/inherited.h"

#define FOREVER_S 1000000

static void expect_null_device(int fd)
{
	struct stat st, null;

	cr_assert_eq(fstat(fd, &st), 0, "%d is open", fd);
	cr_assert_eq(stat("/dev/null", &null), 0);
	cr_expect_eq(st.st_rdev, null.st_rdev);
}

Test(inherited, opens_standard_descriptors_that_are_closed_and_no_others)
{
	struct stat before, after;

	cr_assert_eq(fstat(STDERR_FILENO, &before), 0);
	cr_assert(close(STDIN_FILENO) == 0 && close(STDOUT_FILENO) == 0);
	cr_assert(msd_inherited_open_standard());
	expect_null_device(STDIN_FILENO);
	expect_null_device(STDOUT_FILENO);
	cr_assert_eq(fstat(STDERR_FILENO, &after), 0);
	cr_expect(before.st_ino == after.st_ino && before.st_dev == after.st_dev);
}

Test(inherited, says_that_no_descriptor_can_be_opened)
{
	struct rlimit none, before;

	cr_assert_eq(getrlimit(RLIMIT_NOFILE, &before), 0);
	none = (struct rlimit){0, before.rlim_max};
	cr_assert_eq(close(STDIN_FILENO), 0);
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
	const bool is_open = msd_inherited_open_standard();
	const int error = errno;
	cr_assert_eq(setrlimit(RLIMIT_NOFILE, &before), 0);
	cr_expect(!is_open && error == EMFILE);
}

Test(inherited, no_signal_is_ignored_or_blocked_but_those_that_writing_raises)
{
	sigset_t all, now;

	(void)sigfillset(&all);
	cr_assert_eq(sigprocmask(SIG_SETMASK, &all, NULL), 0);
	(void)signal(SIGCHLD, SIG_IGN);
	(void)signal(SIGTERM, SIG_IGN);
	msd_inherited_reset();
	cr_assert_eq(sigprocmask(SIG_SETMASK, NULL, &now), 0);
	for (int i = 1; i < NSIG; i++) {
		struct sigaction action;

		cr_expect_neq(sigismember(&now, i), 1, "%d is not blocked", i);
		if (sigaction(i, NULL, &action) == 0) {
			const bool is_write = i == SIGPIPE || i == SIGXFSZ;
			cr_expect_eq(action.sa_handler == SIG_IGN, is_write, "%d", i);
		}
	}
}

Test(inherited, a_timer_that_runs_is_stopped)
{
	static const int which[] = {ITIMER_REAL, ITIMER_VIRTUAL, ITIMER_PROF};
	const struct itimerval late = {.it_value = {.tv_sec = FOREVER_S}};

	for (unsigned i = 0; i < 3; i++)
		cr_assert_eq(setitimer((__itimer_which_t)which[i], &late, NULL), 0);
	msd_inherited_reset();
	for (unsigned i = 0; i < 3; i++) {
		struct itimerval left;
		cr_assert_eq(getitimer((__itimer_which_t)which[i], &left), 0);
		cr_expect_eq(left.it_value.tv_sec, 0);
	}
}

Test(inherited, the_umask_keeps_what_it_says_of_others)
{
	(void)umask(0727);
	msd_inherited_reset();
	cr_expect_eq(umask(0), 0027);
}

Test(inherited, the_soft_limit_of_files_becomes_the_hard_one)
{
	struct rlimit r = {.rlim_cur = 0, .rlim_max = 1 << 20};

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
	cr_expect_eq(msd_inherited_raise_file_size(1 << 20, NULL), MSD_OK);
	cr_assert_eq(getrlimit(RLIMIT_FSIZE, &r), 0);
	cr_expect_eq(r.rlim_cur, 1 << 20);
}

Test(inherited, too_low_a_hard_limit_of_files_is_told_with_both_numbers)
{
	const struct rlimit r = {.rlim_cur = 0, .rlim_max = 4096};
	struct msd_diag d = {0};

	cr_assert_eq(setrlimit(RLIMIT_FSIZE, &r), 0);
	cr_expect_eq(msd_inherited_raise_file_size(8192, &d), MSD_REFUSED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "RLIMIT_FSIZE is 4096 bytes"));
	cr_expect_not_null(strstr(msd_diag_text(&d), "expected 8192 or more"));
	msd_diag_finish(&d);
}
