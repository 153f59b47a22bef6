#include <criterion/criterion.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/close_range.h>
#include <seccomp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/user.h"
#include "tests/daemon/starter_rig.h"

#define MANY 100

static int start(const struct msd_spawn_thread_how *how, pid_t *ret)
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
	const struct msd_spawn_thread_how how = {.argv = argv,
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
	const struct msd_spawn_thread_how how = {
		.argv = argv, .environment = environ, .fds = {-1, -1, -1}, .n_fds = 3};
	pid_t pid = 0;

	open_starter();
	cr_expect_eq(start(&how, &pid), EACCES);
	cr_expect_eq(waitpid(-1, NULL, 0), -1, "no child is left");
	expect_said("echo next", "next\n");
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
