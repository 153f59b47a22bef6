#include <criterion/criterion.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/daemon/kept_program.h"
#include "tests/daemon/starter_rig.h"

/* Programs that cannot be had. */

/* One that runs at once, behind those that cannot be had. */
static void begin_true(struct told *told)
{
	static char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_spawn_thread_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	struct msd_start *start;

	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, told, &start), 0);
}

/* A starter that is with a program that cannot be had. */
struct scene {
	struct kept_program program;
	struct msd_start *begun; /* of it */
	struct told kept, next;  /* of it, and of another */
};

static void open_scene(struct scene *s, uint64_t patience_ms)
{
	*s = (struct scene){0};
	keep_program(&s->program, "/bin/true");
	char *argv[] = {s->program.path, NULL};
	const struct msd_spawn_thread_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};

	open_starter();
	starter.patience_ms = patience_ms;
	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, &s->kept, &s->begun),
		     0);
}

static void wait_until_born(const struct scene *s)
{
	while (msd_start_born(s->begun) == 0)
		(void)sched_yield();
}

static void close_scene(struct scene *s)
{
	drop_program(&s->program);
	close_starter();
}

Test(starter_late, a_program_that_cannot_be_had_is_waited_for_so_long, .timeout = 300)
{
	struct scene s;

	open_scene(&s, 50);
	begin_true(&s.next);
	wait_for(&s.kept);
	cr_expect_eq(s.kept.error, ETIMEDOUT);
	wait_for(&s.next);
	cr_expect_eq(s.next.error, 0);
	cr_expect_eq(waitpid(s.next.pid, NULL, 0), s.next.pid);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	close_scene(&s);
}

Test(starter_late, nobody_waits_while_a_program_cannot_be_had, .timeout = 300)
{
	struct scene s;

	open_scene(&s, MSD_STARTER_PATIENCE_MS);
	begin_true(&s.next);
	wait_until_born(&s);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_eq(s.kept.n + s.next.n, 0);
	cr_expect_eq(kill(msd_start_born(s.begun), SIGKILL), 0, "who wants it ended");
	wait_for(&s.next);
	cr_expect_eq(s.kept.n, 1);
	cr_expect_eq(waitpid(s.kept.pid, NULL, 0), s.kept.pid);
	cr_expect_eq(waitpid(s.next.pid, NULL, 0), s.next.pid);
	close_scene(&s);
}

Test(starter_late, what_was_given_up_is_killed_and_not_told, .timeout = 300)
{
	struct scene s;

	open_scene(&s, MSD_STARTER_PATIENCE_MS);
	begin_true(&s.next);
	wait_until_born(&s);
	msd_starter_give_up(&starter, s.begun);
	wait_for(&s.next);
	cr_expect_eq(s.kept.n, 0);
	cr_expect_eq(waitpid(s.next.pid, NULL, 0), s.next.pid);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	close_scene(&s);
}

/* Long before its time is over. */
Test(starter_late, a_kill_that_comes_before_its_birth_is_not_lost, .timeout = 300)
{
	struct scene s;
	int status;

	open_scene(&s, 600000);
	msd_starter_cancel(&starter, s.begun);
	wait_for(&s.kept);
	cr_assert_eq(waitpid(s.kept.pid, &status, 0), s.kept.pid);
	cr_expect(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
	close_scene(&s);
}

Test(starter_late, who_waits_behind_it_can_be_cancelled, .timeout = 300)
{
	static char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_spawn_thread_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	struct msd_start *next;
	struct told cancelled = {0}, last = {0};
	struct scene s;

	open_scene(&s, MSD_STARTER_PATIENCE_MS);
	cr_assert_eq(msd_starter_begin(&starter, &how, on_begun, &cancelled, &next), 0);
	msd_starter_cancel(&starter, next);
	cr_expect_eq(cancelled.n, 0, "on a later turn");
	wait_for(&cancelled);
	cr_expect_eq(cancelled.error, ECANCELED);
	cr_expect_eq(s.kept.n, 0, "the first one is where it was");
	begin_true(&last);
	msd_starter_give_up(&starter, s.begun);
	wait_for(&last);
	cr_expect_eq(waitpid(last.pid, NULL, 0), last.pid);
	close_scene(&s);
}

/* Of one that cannot be killed, by a thread that has nothing to say. */
Test(starter_late, all_fail_while_one_cannot_be_ended, .timeout = 300)
{
	struct told first = {0}, next = {0}, last = {0};
	struct msd_start *refused;
	int ends[2];
	char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_spawn_thread_how how = {.argv = argv, .environment = environ};

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
	struct scene s;

	open_scene(&s, MSD_STARTER_PATIENCE_MS);
	starter.is_stuck = true;
	let_program_go(&s.program);
	wait_for(&s.kept);
	cr_expect_eq(s.kept.error, 0);
	cr_expect_eq(waitpid(s.kept.pid, NULL, 0), s.kept.pid);
	begin_true(&s.next);
	wait_for(&s.next);
	cr_expect_eq(waitpid(s.next.pid, NULL, 0), s.next.pid);
	close_scene(&s);
}
