#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/starter_rig.h"

/* Programs that cannot be had. */

/* A copy of a program, which nobody may open while @ret is open. */
static int keep_from_all(char path[], const char *program)
{
	static uint8_t bytes[1u << 22];
	const int from = open(program, O_RDONLY), to = mkstemp(path);
	const ssize_t n = read(from, bytes, sizeof(bytes));

	cr_assert_gt(n, 0);
	cr_assert_eq(write(to, bytes, (size_t)n), n);
	(void)fchmod(to, 0700);
	(void)close(from);
	(void)close(to);
	(void)signal(SIGIO, SIG_IGN); /* which asks for it back */
	const int ret = open(path, O_RDONLY | O_CLOEXEC);
	cr_assert_geq(ret, 0);
	return fcntl(ret, F_SETLEASE, F_WRLCK) == 0 ? ret : -1;
}

/* One that runs at once, behind those that cannot be had. */
static void begin_true(struct told *told)
{
	static char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_birth_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	struct msd_start *start;

	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, told, &start), 0);
}

/* The kernel takes a lease back after 45 s, /proc/sys/fs/lease-break-time. */
static int begin_kept(char path[], struct told *told, struct msd_start **ret)
{
	char *argv[] = {path, NULL};
	const struct msd_birth_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	const int lease = keep_from_all(path, "/bin/true");

	if (lease < 0)
		cr_skip_test("no lease of a file in /tmp can be had");
	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, told, ret), 0);
	return lease;
}

Test(starter_late, a_program_that_cannot_be_had_is_waited_for_so_long, .timeout = 300)
{
	char path[] = "/tmp/starter-XXXXXX";
	struct msd_start *begun;
	struct told kept = {0}, next = {0};

	open_starter();
	starter.patience_ms = 50;
	const int lease = begin_kept(path, &kept, &begun);
	begin_true(&next);
	wait_for(&kept);
	cr_expect_eq(kept.error, ETIMEDOUT);
	wait_for(&next);
	cr_expect_eq(next.error, 0);
	cr_expect_eq(waitpid(next.pid, NULL, 0), next.pid);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	(void)close(lease);
	(void)unlink(path);
	close_starter();
}

Test(starter_late, nobody_waits_while_a_program_cannot_be_had, .timeout = 300)
{
	char path[] = "/tmp/starter-XXXXXX";
	struct msd_start *begun;
	struct told kept = {0}, next = {0};

	open_starter();
	const int lease = begin_kept(path, &kept, &begun);
	begin_true(&next);
	while (msd_start_born(begun) == 0)
		(void)sched_yield();
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_eq(kept.n + next.n, 0);
	cr_expect_eq(kill(msd_start_born(begun), SIGKILL), 0, "who wants it ended");
	wait_for(&next);
	cr_expect_eq(kept.n, 1);
	cr_expect_eq(waitpid(kept.pid, NULL, 0), kept.pid);
	cr_expect_eq(waitpid(next.pid, NULL, 0), next.pid);
	(void)close(lease);
	(void)unlink(path);
	close_starter();
}

Test(starter_late, what_was_given_up_is_killed_and_not_told, .timeout = 300)
{
	char path[] = "/tmp/starter-XXXXXX";
	struct msd_start *begun;
	struct told kept = {0}, next = {0};

	open_starter();
	const int lease = begin_kept(path, &kept, &begun);
	begin_true(&next);
	while (msd_start_born(begun) == 0)
		(void)sched_yield();
	msd_starter_give_up(begun);
	wait_for(&next);
	cr_expect_eq(kept.n, 0);
	cr_expect_eq(waitpid(next.pid, NULL, 0), next.pid);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	(void)close(lease);
	(void)unlink(path);
	close_starter();
}

Test(starter_late, who_waits_behind_it_can_be_cancelled, .timeout = 300)
{
	char path[] = "/tmp/starter-XXXXXX";
	static char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_birth_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	struct msd_start *begun, *next;
	struct told kept = {0}, cancelled = {0}, last = {0};

	open_starter();
	const int lease = begin_kept(path, &kept, &begun);
	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, &cancelled, &next), 0);
	msd_starter_cancel(&starter, next);
	cr_expect_eq(cancelled.n, 0, "on a later turn");
	wait_for(&cancelled);
	cr_expect_eq(cancelled.error, ECANCELED);
	cr_expect_eq(kept.n, 0, "the first one is where it was");
	begin_true(&last);
	msd_starter_give_up(begun);
	wait_for(&last);
	cr_expect_eq(waitpid(last.pid, NULL, 0), last.pid);
	(void)close(lease);
	(void)unlink(path);
	close_starter();
}

/* Of one that cannot be killed, by a thread that has nothing to say. */
Test(starter_late, all_fail_while_one_cannot_be_ended, .timeout = 300)
{
	struct told first = {0}, next = {0}, last = {0};
	struct msd_start *refused;
	int ends[2];
	char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_birth_how how = {.argv = argv, .environment = environ};

	open_starter();
	starter.patience_ms = 50;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends), 0);
	const int own = dup(starter.to_thread); /* the thread's own, for its end */
	cr_assert_geq(dup3(ends[0], starter.to_thread, O_CLOEXEC), 0);
	(void)uv_poll_stop(&starter.heard);
	begin_true(&first);
	begin_true(&next);
	wait_for(&first);
	cr_expect_eq(first.error, ETIMEDOUT);
	wait_for(&next);
	cr_expect_eq(next.error, EBUSY);
	cr_expect_eq(msd_starter_begin(&starter, &how, on_begun, &last, &refused),
		     EBUSY);
	cr_expect_eq(last.n, 0);
	cr_assert_geq(dup3(own, starter.to_thread, O_CLOEXEC), 0);
	(void)close(own);
	(void)close(ends[0]);
	(void)close(ends[1]);
	close_starter();
}

Test(starter_late, one_that_ended_at_last_lets_others_begin, .timeout = 300)
{
	char path[] = "/tmp/starter-XXXXXX";
	struct msd_start *begun;
	struct told kept = {0}, next = {0};

	open_starter();
	const int lease = begin_kept(path, &kept, &begun);
	starter.is_stuck = true;
	(void)close(lease);
	wait_for(&kept);
	cr_expect_eq(kept.error, 0);
	cr_expect_eq(waitpid(kept.pid, NULL, 0), kept.pid);
	begin_true(&next);
	wait_for(&next);
	cr_expect_eq(waitpid(next.pid, NULL, 0), next.pid);
	(void)unlink(path);
	close_starter();
}
