#include <criterion/criterion.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/child.h"
#include "tests/daemon/kept_program.h"

/* A child that runs a shell's words, and what was told about it. */
struct watched {
	uv_loop_t loop;
	struct msd_reaper reaper;
	struct msd_child *child;
	struct msd_buf output;
	char end[600];
	unsigned n_exits, n_closed;
};

static void on_output(void *user, const char *bytes, size_t n)
{
	struct watched *w = user;

	msd_buf_put(&w->output, bytes, n);
}

static void on_exit_told(void *user)
{
	struct watched *w = user;
	struct msd_buf end = {0};

	w->n_exits++;
	msd_child_read_output(w->child);
	msd_child_describe_end(w->child, &end);
	cr_assert_lt(end.n, sizeof(w->end));
	memcpy(w->end, end.p, end.n);
	msd_buf_finish(&end);
	msd_child_close(w->child);
}

static void on_closed(void *user)
{
	struct watched *w = user;

	w->n_closed++;
}

static const struct msd_child_ops ops = {
	.on_output = on_output, .on_exit = on_exit_told, .on_closed = on_closed};

static void begin_program(struct watched *w, char **argv, int fd)
{
	const struct msd_child_how how = {
		.argv = argv, .fds = {fd}, .n_fds = fd >= 0 ? 1 : 0};

	*w = (struct watched){0};
	(void)uv_loop_init(&w->loop);
	msd_reaper_init(&w->reaper, &w->loop);
	cr_assert_eq(msd_child_spawn(&w->reaper, &how, &ops, w, &w->child, NULL),
		     MSD_OK);
}

static void begin(struct watched *w, const char *words, int fd)
{
	char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)words, NULL};

	begin_program(w, argv, fd);
}

static void close_loop(uv_loop_t *loop, struct msd_reaper *reaper)
{
	msd_reaper_close(reaper);
	(void)uv_run(loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(loop), 0, "no handle is left");
}

/* Until nothing is left to wait for: a handle that stays open hangs the test. */
static void end(struct watched *w)
{
	(void)uv_run(&w->loop, UV_RUN_DEFAULT);
	close_loop(&w->loop, &w->reaper);
	cr_expect_eq(w->n_exits, 1);
	cr_expect_eq(w->n_closed, 1);
	msd_buf_finish(&w->output);
}

Test(child, tells_its_exit_once_with_status_and_last_words, .timeout = 300)
{
	struct watched w;

	begin(&w, "echo one; echo two; echo three >&2; exit 3", -1);
	end(&w);
	cr_expect_str_eq(w.end, "exit status 3; last words: two\nthree");
}

Test(child, names_the_signal_that_ended_it, .timeout = 300)
{
	struct watched w;

	begin(&w, "kill -SEGV $$", -1);
	end(&w);
	cr_expect_str_eq(w.end, "signal SEGV");
}

Test(child, is_killed_for_the_first_reason_given, .timeout = 300)
{
	struct watched w;

	begin(&w, "exec sleep 1000", -1);
	msd_child_kill(w.child, "the first reason");
	msd_child_kill(w.child, "another");
	end(&w);
	cr_expect_str_eq(w.end, "killed: the first reason");
}

Test(child, takes_its_group_along, .timeout = 300)
{
	struct watched w;
	int ends[2];
	char byte;

	/* The grandchild holds the pipe's writing end, and would for long. */
	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	begin(&w, "sleep 1000 & exit 0", ends[1]);
	close(ends[1]);
	end(&w);
	cr_expect_eq(read(ends[0], &byte, 1), 0, "nobody holds it any more");
	close(ends[0]);
}

Test(child, output_that_is_left_at_its_exit_is_read, .timeout = 300)
{
	struct watched w;

	begin(&w, "head -c 60000 /dev/zero", -1);
	while (w.n_exits == 0)
		(void)uv_run(&w.loop, UV_RUN_ONCE);
	cr_expect_eq(w.output.n, 60000);
	end(&w);
}

static size_t waiting_output(const struct watched *w)
{
	int n = 0;

	cr_assert_eq(ioctl(w->child->output_fd, FIONREAD, &n), 0);
	return (size_t)n;
}

Test(child, that_writes_without_end_is_read_a_little_in_a_turn, .timeout = 300)
{
	struct watched w;

	begin(&w, "exec cat /dev/zero", -1);
	while (w.output.n == 0)
		(void)uv_run(&w.loop, UV_RUN_ONCE);
	for (unsigned i = 0; i < 4; i++) {
		const size_t before = w.output.n;
		while (waiting_output(&w) < 60000)
			(void)sched_yield();
		(void)uv_run(&w.loop, UV_RUN_ONCE);
		cr_expect_leq(w.output.n - before, 16384);
	}
	msd_child_kill(w.child, "enough");
	end(&w);
}

Test(child, gets_its_descriptors_from_3_on, .timeout = 300)
{
	struct watched w;
	int ends[2];
	char text[8] = {0};

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	begin(&w, "echo hello >&3", ends[1]);
	close(ends[1]);
	end(&w);
	cr_expect_eq(read(ends[0], text, sizeof(text)), 6);
	cr_expect_str_eq(text, "hello\n");
	close(ends[0]);
}

Test(child, that_is_no_program_ends_with_that_and_leaves_nothing, .timeout = 300)
{
	struct watched w;

	begin_program(&w, (char *[]){(char *)(uintptr_t) "/nowhere/found", NULL}, -1);
	cr_expect_eq(w.n_exits, 0, "on a later turn");
	end(&w);
	cr_expect_str_eq(w.end, "starting /nowhere/found: No such file or directory");
}

Test(child, is_killed_before_it_is_its_program, .timeout = 300)
{
	struct kept_program program;
	struct watched w;

	keep_program(&program, "/bin/sh");
	begin_program(&w, (char *[]){program.path, NULL}, -1);
	while (msd_child_pid(w.child) == 0)
		(void)sched_yield();
	cr_expect_not(msd_child_leave(w.child),
		      "what is no program yet cannot be left");
	msd_child_kill(w.child, "a reason");
	end(&w);
	cr_expect_str_eq(w.end, "killed: a reason");
	drop_program(&program);
}

static uv_loop_t *other_loop;

static void on_other_exit(void *user)
{
	bool *has_exited = user;

	*has_exited = true;
	uv_stop(other_loop); /* it would sleep on after a timer's word */
}

static const struct msd_child_ops other_ops = {.on_output = on_output,
					       .on_exit = on_other_exit};

/* It has a deadline of its own. */
Test(child, is_killed_while_another_cannot_be_started, .timeout = 300)
{
	struct kept_program program;
	char *argv[] = {(char *)(uintptr_t) "/bin/true", NULL};
	const struct msd_child_how how = {.argv = argv};
	struct msd_buf text = {0};
	struct msd_child *other;
	bool has_exited = false;
	struct watched w;

	keep_program(&program, "/bin/sh");
	begin_program(&w, (char *[]){program.path, NULL}, -1);
	cr_assert_eq(
		msd_child_spawn(&w.reaper, &how, &other_ops, &has_exited, &other, NULL),
		MSD_OK);
	other_loop = &w.loop;
	msd_child_kill(other, "its time is over");
	while (!has_exited)
		(void)uv_run(&w.loop, UV_RUN_ONCE);
	cr_expect_eq(w.n_exits, 0);
	msd_child_describe_end(other, &text);
	cr_expect(text.n == 24 && memcmp(text.p, "killed: its time is over", 24) == 0);
	msd_buf_finish(&text);
	msd_child_close(other);
	msd_child_kill(w.child, "over");
	end(&w);
	drop_program(&program);
}

Test(child, that_waits_to_be_started_ends_with_the_daemon, .timeout = 300)
{
	struct kept_program program;
	struct watched w;

	keep_program(&program, "/bin/sh");
	begin_program(&w, (char *[]){program.path, NULL}, -1);
	msd_reaper_close(&w.reaper);
	cr_expect_eq(waitpid(-1, NULL, WNOHANG), -1, "no child is left, dead or alive");
	msd_child_close(w.child);
	(void)uv_run(&w.loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&w.loop), 0, "no handle is left");
	cr_expect_eq(w.n_exits, 0);
	cr_expect_eq(w.n_closed, 1);
	drop_program(&program);
}

static bool may_have_namespaces(void)
{
	const pid_t pid = fork();
	int status = -1;

	if (pid == 0)
		_exit(unshare(CLONE_NEWIPC) == 0 ? 0 : 1);
	cr_assert_eq(waitpid(pid, &status, 0), pid);
	return status == 0;
}

static size_t own_namespace(char *name, size_t size)
{
	const ssize_t n = readlink("/proc/self/ns/ipc", name, size);

	cr_assert_gt(n, 0);
	return (size_t)n;
}

Test(child, shares_no_memory_by_number_with_the_daemon, .timeout = 300)
{
	struct watched w;
	char before[64], after[64];

	if (!may_have_namespaces())
		cr_skip_test("no CAP_SYS_ADMIN: a child shares the daemon's own");
	const size_t n = own_namespace(before, sizeof(before));
	begin(&w, "printf %s \"$(readlink /proc/self/ns/ipc)\"", -1);
	while (w.n_exits == 0)
		(void)uv_run(&w.loop, UV_RUN_ONCE);
	cr_expect_eq(w.output.n, n, "it told its own");
	cr_expect_neq(memcmp(w.output.p, before, n), 0);
	cr_expect_eq(own_namespace(after, sizeof(after)), n);
	cr_expect_eq(memcmp(after, before, n), 0, "the daemon stays where it was");
	end(&w);
}
