#include <criterion/criterion.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/reaper.h"

/*
 * Processes of these tests hold the writing end of a pipe, as all do that they start:
 * its end is when the last one is gone. Whoever would live on would hang the test.
 */
struct yard {
	uv_loop_t loop;
	struct msd_reaper reaper;
	struct msd_ward wards[2];
	int held[2]; /* of each ward's processes; the reading end */
	unsigned n_alone;
};

static struct yard yard;

static void on_alone(struct msd_ward *w)
{
	yard.n_alone++;
	msd_reaper_forget(&yard.reaper, w);
}

static void begin(void)
{
	yard = (struct yard){.held = {-1, -1}};
	(void)uv_loop_init(&yard.loop);
	msd_reaper_init(&yard.reaper, &yard.loop);
	yard.reaper.give_up_ms = UINT64_MAX; /* however busy the machine is */
}

static void take(struct msd_mark mark)
{
	const struct rlimit falls = {mark.falls, mark.falls};
	const struct rlimit rises = {mark.rises, mark.rises};

	(void)setrlimit(RLIMIT_RTTIME, &falls);
	(void)setrlimit(RLIMIT_LOCKS, &rises);
}

/* Start a shell that takes a mark and runs @words, as ward @i. */
static void watch(unsigned i, const char *words)
{
	int held[2];

	cr_assert_eq(pipe(held), 0);
	const struct msd_mark mark = msd_reaper_new_mark(&yard.reaper);
	const pid_t pid = fork();
	if (pid == 0) {
		take(mark);
		(void)close(held[0]);
		(void)dup2(held[1], 9); /* to say something */
		(void)execl("/bin/sh", "sh", "-c", words, (char *)NULL);
		_exit(127);
	}
	yard.wards[i].on_alone = on_alone;
	msd_reaper_watch(&yard.reaper, &yard.wards[i], pid, mark);
	yard.held[i] = held[0];
	(void)close(held[1]);
	(void)fcntl(held[0], F_SETFL, O_NONBLOCK);
}

/* What the kernel and libuv tell of a child that exits. */
static void bury(unsigned i)
{
	cr_assert_eq(waitpid(yard.wards[i].pid, NULL, 0), yard.wards[i].pid);
	msd_reaper_bury(&yard.reaper, &yard.wards[i]);
}

static bool is_over(unsigned i)
{
	char byte;

	return read(yard.held[i], &byte, 1) == 0;
}

static void expect_alone(unsigned n)
{
	while (yard.n_alone < n)
		cr_assert(uv_run(&yard.loop, UV_RUN_ONCE) != 0 || yard.n_alone >= n);
	cr_expect_eq(yard.n_alone, n);
}

static void end(void)
{
	msd_reaper_close(&yard.reaper);
	(void)uv_run(&yard.loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&yard.loop), 0);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "no child is left, dead or alive");
}

Test(reaper, a_child_that_left_nothing_is_alone_at_once, .timeout = 300)
{
	begin();
	watch(0, "exit 0");
	bury(0);
	cr_expect_eq(yard.n_alone, 1, "before bury() returned");
	end();
}

Test(reaper, what_left_its_session_is_killed, .timeout = 300)
{
	begin();
	watch(0, "setsid sh -c 'setsid sleep 1000 & exec sleep 1000' & exit 0");
	bury(0);
	expect_alone(1);
	cr_expect(is_over(0));
	end();
}

Test(reaper, what_dropped_its_environment_is_killed, .timeout = 300)
{
	begin();
	watch(0, "setsid env -i /bin/sh -c '/bin/sleep 1000 & exit 0' & exit 0");
	bury(0);
	expect_alone(1);
	cr_expect(is_over(0));
	end();
}

Test(reaper, a_chain_of_orphans_is_killed_to_its_end, .timeout = 300)
{
	begin();
	watch(0, "f() { [ $1 = 0 ] && exec sleep 1000; setsid sleep 1000 & f $(($1 - "
		 "1)) & "
		 "wait; }; f 20 & exit 0");
	bury(0);
	expect_alone(1);
	cr_expect(is_over(0));
	end();
}

Test(reaper, other_childrens_processes_are_left_alone, .timeout = 300)
{
	begin();
	watch(0, "setsid sleep 1000 & exit 0");
	watch(1, "setsid sleep 1000 & exec sleep 1000");
	bury(0);
	expect_alone(1);
	cr_expect(is_over(0));
	cr_expect_not(is_over(1));
	cr_expect_eq(kill(yard.wards[1].pid, SIGKILL), 0);
	bury(1);
	expect_alone(2);
	cr_expect(is_over(1));
	end();
}

/* Of wards 0 and 1, of which 1 is dead, an orphan has the mark @hidden. */
static void expect_killed_at_sight(struct msd_mark (*hide)(void))
{
	int ends[2];
	char byte;

	begin();
	watch(0, "exec sleep 1000");
	watch(1, "exit 0");
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	if (fork() ==
	    0) { /* stands for the orphan: a child of ours with another mark */
		take(hide());
		(void)!write(ends[1], "", 1);
		(void)pause();
	}
	(void)close(ends[1]);
	cr_assert_eq(read(ends[0], &byte, 1), 1);
	cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	bury(1);
	expect_alone(1);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "it is gone when somebody is told");
	cr_expect_eq(kill(yard.wards[0].pid, 0), 0, "it did nothing itself");
	end();
}

static struct msd_mark nobodys(void)
{
	return (struct msd_mark){1000000, 1000000};
}

Test(reaper, whoever_changed_its_mark_is_killed_at_sight, .timeout = 300)
{
	expect_killed_at_sight(nobodys);
}

/* Ward 1's as far as it may be lowered to that of ward 0, an earlier child. */
static struct msd_mark like_an_earlier_one(void)
{
	return (struct msd_mark){yard.wards[1].mark.falls, yard.wards[0].mark.rises};
}

Test(reaper, who_would_be_an_earlier_child_s_is_killed_at_sight, .timeout = 300)
{
	expect_killed_at_sight(like_an_earlier_one);
}

Test(reaper, marks_can_be_lowered_to_no_other_mark)
{
	begin();
	const struct msd_mark one = msd_reaper_new_mark(&yard.reaper);
	const struct msd_mark two = msd_reaper_new_mark(&yard.reaper);
	cr_expect_lt(two.falls, one.falls);
	cr_expect_gt(two.rises, one.rises);
	cr_expect_lt(one.falls, yard.reaper.unmarked.falls);
	cr_expect_lt(two.rises, yard.reaper.unmarked.rises);
	end();
}

Test(reaper, what_was_there_before_is_left_alone, .timeout = 300)
{
	const pid_t before = fork();

	if (before == 0)
		(void)pause();
	begin();
	watch(0, "exit 0");
	bury(0);
	expect_alone(1);
	cr_expect_eq(waitpid(before, NULL, WNOHANG), 0, "it lives");
	cr_expect_eq(kill(before, SIGKILL), 0);
	cr_expect_eq(waitpid(before, NULL, 0), before);
	end();
}

Test(reaper, at_the_end_all_are_killed, .timeout = 300)
{
	begin();
	watch(0, "setsid sleep 1000 & exec sleep 1000");
	end();
	cr_expect(is_over(0));
}

Test(reaper, a_dead_orphan_of_a_living_child_is_reaped, .timeout = 300)
{
	char text[32] = {0};
	int orphan;

	begin();
	watch(0, "sh -c \"sh -c 'echo \\$\\$ >&9' & exit 0\"; exec sleep 1000");
	while (read(yard.held[0], text, sizeof(text) - 1) <= 0)
		continue;
	cr_assert_eq(sscanf(text, "%d", &orphan), 1);
	uv_ref((uv_handle_t *)&yard.reaper.sigchld); /* a loop that has no other */
	while (kill(orphan, 0) == 0)
		(void)uv_run(&yard.loop, UV_RUN_NOWAIT);
	cr_expect_eq(kill(yard.wards[0].pid, 0), 0, "the child lives");
	end();
}
