#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <sched.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/starter.h"
#include "daemon/child/user.h"

#define MANY 100

static struct msd_starter starter;
static uv_loop_t loop;

static void open_starter(void)
{
	cr_assert_eq(uv_loop_init(&loop), 0);
	msd_starter_open(&starter, &loop);
}

static void close_starter(void)
{
	msd_starter_close(&starter);
	(void)uv_run(&loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&loop), 0, "no handle is left");
}

/* What was told of a start. */
struct told {
	unsigned n;
	pid_t pid;
	int error;
};

static void on_begun(void *user, pid_t pid, int error)
{
	*(struct told *)user = (struct told){((struct told *)user)->n + 1, pid, error};
}

/* Its handles do not keep the loop: this does. */
static void keep(uv_timer_t *timer)
{
	(void)timer;
}

static void wait_for(const struct told *told)
{
	uv_timer_t ever;

	(void)uv_timer_init(&loop, &ever);
	(void)uv_timer_start(&ever, keep, 1000000, 0);
	while (told->n == 0)
		(void)uv_run(&loop, UV_RUN_ONCE);
	uv_close((uv_handle_t *)&ever, NULL);
	(void)uv_run(&loop, UV_RUN_NOWAIT);
	cr_expect_eq(told->n, 1);
}

static int start(const struct msd_birth_how *how, pid_t *ret)
{
	struct told told = {0};
	struct msd_start *begun;
	const int error = msd_starter_begin(&starter, how, on_begun, &told, &begun);

	if (error != 0)
		return error;
	cr_expect_eq(told.n, 0, "on a later turn");
	wait_for(&told);
	if (told.error == 0)
		*ret = told.pid;
	return told.error;
}

/* A shell that runs @words, with what it writes in @ret. Its status, or that of its
 * start, negative. */
static int run_as(const char *words, int extra, const struct msd_child_user *user,
		  char ret[256])
{
	char *argv[] = {(char *)(uintptr_t) "/bin/sh", (char *)(uintptr_t) "-c",
			(char *)(uintptr_t)words, NULL};
	int ends[2], status = -1;
	ssize_t n, all = 0;
	pid_t pid = -1;

	cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
	const struct msd_birth_how how = {.argv = argv,
					  .environment = environ,
					  .fds = {-1, ends[1], -1, extra},
					  .n_fds = extra >= 0 ? 4 : 3,
					  .user = user};
	const int error = start(&how, &pid);
	(void)close(ends[1]);
	while (error == 0 && (n = read(ends[0], ret + all, 255 - (size_t)all)) > 0)
		all += n;
	ret[all] = '\0';
	(void)close(ends[0]);
	if (error != 0)
		return -error;
	cr_assert_eq(waitpid(pid, &status, 0), pid, "it is this process's child");
	return WEXITSTATUS(status);
}

static void expect_said(const char *words, const char *expected)
{
	char said[256];

	cr_expect_eq(run_as(words, -1, NULL, said), 0, "%s", words);
	cr_expect_str_eq(said, expected, "%s", words);
}

/* Descriptors of the thread that is not the first. */
static unsigned count_of_thread(void)
{
	char path[64] = "";
	unsigned n = 0;
	DIR *threads = opendir("/proc/self/task");

	for (struct dirent *e; (e = readdir(threads)) != NULL;) {
		const pid_t id = (pid_t)strtol(e->d_name, NULL, 10);
		if (id > 0 && id != getpid())
			(void)snprintf(path, sizeof(path), "/proc/self/task/%d/fd", id);
	}
	(void)closedir(threads);
	DIR *descriptors = opendir(path);
	cr_assert_not_null(descriptors, "%s", path);
	while (readdir(descriptors) != NULL)
		n++;
	(void)closedir(descriptors);
	return n - 2; /* . and .. */
}

static void hold_many(int ret[MANY])
{
	for (int i = 0; i < MANY; i++)
		cr_assert_geq(ret[i] = open("/dev/null", O_RDONLY), 0);
}

Test(starter, its_thread_has_no_descriptor_of_the_others, .timeout = 300)
{
	int held[MANY];

	hold_many(held);
	open_starter();
	cr_expect_leq(count_of_thread(), 4, "three that are standard, and its own");
	hold_many(held);
	expect_said("echo yes", "yes\n");
	cr_expect_leq(count_of_thread(), 4);
	close_starter();
}

Test(starter, a_child_has_what_it_is_given_and_nothing_else, .timeout = 300)
{
	char said[256];
	int held[MANY], given[2];

	open_starter();
	hold_many(held); /* without FD_CLOEXEC */
	cr_assert_eq(pipe2(given, O_CLOEXEC), 0);
	cr_expect_eq(
		run_as("echo given >&3; exec ls /proc/self/fd", given[1], NULL, said),
		0);
	cr_expect_str_eq(said, "0\n1\n2\n3\n4\n", "4 is the folder that is read");
	(void)close(given[1]);
	cr_expect_eq(read(given[0], said, sizeof(said)), 6);
	cr_expect_eq(read(given[0], said, sizeof(said)), 0, "the thread has let it go");
	close_starter();
}

static void ignore(int number)
{
	(void)number;
}

Test(starter, a_child_has_nothing_of_the_daemons_signals, .timeout = 300)
{
	sigset_t some;

	(void)signal(SIGPIPE, SIG_IGN);
	(void)signal(SIGTERM, ignore);
	(void)sigemptyset(&some);
	(void)sigaddset(&some, SIGUSR1);
	(void)pthread_sigmask(SIG_BLOCK, &some, NULL);
	open_starter();
	expect_said("grep -E 'Sig(Blk|Ign):' /proc/self/status | cut -f 2",
		    "0000000000000000\n0000000000000000\n");
	close_starter();
	cr_expect_eq(signal(SIGTERM, SIG_DFL), ignore, "the daemon has its own still");
}

Test(starter, a_child_leads_a_session, .timeout = 300)
{
	open_starter();
	expect_said("cut -d ' ' -f 6 /proc/$$/stat | grep -qx $$ && echo leads",
		    "leads\n");
	close_starter();
}

Test(starter, what_is_no_program_is_an_error_and_leaves_no_process, .timeout = 300)
{
	char *argv[] = {(char *)(uintptr_t) "/dev/null", NULL};
	const struct msd_birth_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	pid_t pid = 0;

	open_starter();
	cr_expect_eq(start(&how, &pid), EACCES);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	expect_said("echo next", "next\n");
	close_starter();
}

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

Test(starter, a_program_that_cannot_be_had_is_waited_for_so_long, .timeout = 300)
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

Test(starter, nobody_waits_while_a_program_cannot_be_had, .timeout = 300)
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

Test(starter, what_was_given_up_is_killed_and_not_told, .timeout = 300)
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

/* Of one that cannot be killed, by a thread that has nothing to say. */
Test(starter, all_fail_while_one_cannot_be_ended, .timeout = 300)
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

Test(starter, one_that_ended_at_last_lets_others_begin, .timeout = 300)
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

Test(starter, that_has_no_thread_says_why, .timeout = 300)
{
	char said[256];

	starter = (struct msd_starter){
		.to_thread = -1, .thread_end = -1, .error = EAGAIN};
	cr_expect_eq(run_as("echo no", -1, NULL, said), -EAGAIN);
	msd_starter_close(&starter);
}

Test(starter, another_users_child_leaves_the_daemon_its_memory, .timeout = 300)
{
	const struct msd_child_user nobody = {65534, 65534};
	char said[256];

	if (geteuid() != 0)
		cr_skip_test("only root can start another user's process");
	open_starter();
	cr_expect_eq(run_as("id -u; id -g; id -G; grep CapAmb /proc/self/status", -1,
			    &nobody, said),
		     0);
	cr_expect_str_eq(said, "65534\n65534\n65534\nCapAmb:\t0000000000000000\n");
	cr_expect_eq(prctl(PR_GET_DUMPABLE, 0, 0, 0, 0), 1);
	cr_expect_eq(geteuid(), 0);
	close_starter();
}

/* As kernels before 5.9 are, and some containers. */
static void refuse_close_range(void)
{
	scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);

	cr_assert_eq(
		seccomp_rule_add(filter, SCMP_ACT_ERRNO(ENOSYS), SYS_close_range, 0),
		0);
	cr_assert_eq(seccomp_load(filter), 0);
	seccomp_release(filter);
	cr_assert_eq(syscall(SYS_close_range, ~0u, ~0u, 0), -1);
}

Test(starter, without_a_table_of_its_own_children_get_the_same, .timeout = 300)
{
	char said[256];
	int given[2];

	refuse_close_range();
	open_starter();
	cr_assert_eq(pipe2(given, O_CLOEXEC), 0);
	const int next = dup(given[0]);
	(void)close(next);
	for (int i = 0; i < MANY; i++) {
		cr_expect_eq(run_as("echo given >&3; echo said", given[1], NULL, said),
			     0);
		cr_expect_str_eq(said, "said\n");
		cr_expect_eq(read(given[0], said, sizeof(said)), 6);
	}
	cr_expect_eq(dup(given[0]), next, "no descriptor is left");
	close_starter();
}
