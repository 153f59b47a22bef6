/*
 * Happy path: the keeper process leads a group of its own and starts the compiler in
 * it. It writes the compiler's exit status into a pipe and kills the group, including
 * itself, so that no process of the run remains.
 *
 * Failures: an error that prevents the start is written into the same pipe. If this
 * program ends, the keeper kills the group. If the keeper is killed, the kernel sends
 * SIGKILL to the compiler; the compiler's children keep their bounds.
 */
#include "client/build/compiler_process.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "client/build/confine.h"

/* A file of a real archive compiles in seconds, the largest ones in a few minutes. */
#define MAX_CPU_S 600u
#define MAX_MEMORY_BYTES (8ull << 30)
#define LEAST_MEMORY_BYTES (1ull << 30)
#define MAX_FILE_BYTES (4ull << 30)

#define NOT_STARTED 127

/* At most the limit of this process. The soft limit sends a signal; the hard limit,
 * one higher, sends SIGKILL. */
static uint64_t bound_of(enum __rlimit_resource what, uint64_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r) != 0)
		return most;
	if (r.rlim_max != RLIM_INFINITY && r.rlim_max <= most)
		most = r.rlim_max > 1 ? r.rlim_max - 1 : r.rlim_max;
	return r.rlim_cur < most ? r.rlim_cur : most;
}

/* A compiler that takes half of the machine's memory leaves the other half to its
 * user. */
static uint64_t memory_of_half(void)
{
	const long pages = sysconf(_SC_PHYS_PAGES), bytes = sysconf(_SC_PAGESIZE);
	const uint64_t half =
		pages > 0 && bytes > 0 ? (uint64_t)pages * (uint64_t)bytes / 2 : 0;

	if (half > MAX_MEMORY_BYTES)
		return MAX_MEMORY_BYTES;
	return half > LEAST_MEMORY_BYTES ? half : LEAST_MEMORY_BYTES;
}

void msd_compiler_bounds_get(struct msd_compiler_bounds *ret)
{
	ret->cpu_s = bound_of(RLIMIT_CPU, MAX_CPU_S);
	ret->memory_bytes = bound_of(RLIMIT_AS, memory_of_half());
	ret->file_bytes = bound_of(RLIMIT_FSIZE, MAX_FILE_BYTES);
}

static int set_bound(enum __rlimit_resource what, uint64_t most)
{
	struct rlimit r;

	if (getrlimit(what, &r) != 0)
		return errno;
	r.rlim_cur = most;
	if (r.rlim_max > most + 1)
		r.rlim_max = most + 1;
	return setrlimit(what, &r) == 0 ? 0 : errno;
}

static int set_bounds(void)
{
	const struct rlimit none = {0};
	struct msd_compiler_bounds b;

	msd_compiler_bounds_get(&b);
	int error = set_bound(RLIMIT_CPU, b.cpu_s);
	if (error == 0)
		error = set_bound(RLIMIT_AS, b.memory_bytes);
	if (error == 0)
		error = set_bound(RLIMIT_FSIZE, b.file_bytes);
	(void)setrlimit(RLIMIT_CORE, &none);
	return error;
}

static int set_output(const char *said)
{
	const int in = open("/dev/null", O_RDONLY | O_CLOEXEC);
	const int out = open(said, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (in < 0 || out < 0 || dup2(in, 0) < 0 || dup2(out, 1) < 0 ||
	    dup2(out, 2) < 0)
		return errno;
	return 0;
}

/* Runs in the compiler's process, which dies with its keeper. Returns only on
 * failure. */
static int become(const struct msd_compiler_job *job, pid_t keeper,
		  bool *ret_is_confined)
{
	int error = 0;

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != keeper)
		_exit(NOT_STARTED);
	(void)signal(SIGPIPE, SIG_DFL);
	error = set_output(job->said);
	if (error == 0 && job->confine != NULL) {
		error = msd_confine_process(job->confine);
		if (error != 0) {
			*ret_is_confined = false;
			return error;
		}
		error = set_bounds();
	}
	if (error != 0)
		return error;
	(void)sigprocmask(SIG_SETMASK, job->mask, NULL);
	(void)execvpe(job->words[0], job->words, job->environment);
	return errno;
}

static void wait_or_orphan(pid_t pid, const sigset_t *set, int *ret_status)
{
	while (sigwaitinfo(set, NULL) != SIGUSR1) {
		if (waitpid(pid, ret_status, WNOHANG) == pid)
			return;
	}
}

static _Noreturn void keep(const struct msd_compiler_job *job, pid_t owner, int out)
{
	struct msd_compiler_end end = {.is_confined = true};
	sigset_t set;

	(void)sigemptyset(&set);
	(void)sigaddset(&set, SIGCHLD);
	(void)sigaddset(&set, SIGUSR1);
	(void)sigprocmask(SIG_BLOCK, &set, NULL);
	(void)setpgid(0, 0);
	(void)prctl(PR_SET_PDEATHSIG, SIGUSR1);
	const pid_t keeper = getpid();
	const pid_t pid = getppid() == owner ? fork() : -1;
	if (pid == 0) {
		end.error = become(job, keeper, &end.is_confined);
		(void)!write(out, &end, sizeof(end));
		_exit(NOT_STARTED);
	}
	if (pid < 0) {
		end.error = errno;
	} else {
		wait_or_orphan(pid, &set, &end.status);
	}
	(void)!write(
		out, &end,
		sizeof(end)); /* after the compiler's own record, if it wrote one */
	(void)kill(-keeper, SIGKILL);
	_exit(NOT_STARTED);
}

/* Wait for the keeper; *@ret_signal is the signal that requested the end. */
static int wait_for(pid_t keeper, const sigset_t *ends, int *ret_signal)
{
	int status;

	for (;;) {
		const int signal = sigwaitinfo(ends, NULL);

		if (signal < 0 && errno != EINTR)
			return errno;
		if (signal > 0 && signal != SIGCHLD) {
			(void)kill(-keeper, *ret_signal == 0 ? SIGTERM : SIGKILL);
			*ret_signal = signal;
		}
		const pid_t ended = waitpid(keeper, &status, WNOHANG);
		if (ended == keeper)
			return 0;
		if (ended < 0 && errno != EINTR)
			return errno;
	}
}

int msd_compiler_process_run(const struct msd_compiler_job *job, const sigset_t *ends,
			     struct msd_compiler_end *ret)
{
	const pid_t owner = getpid();
	int fds[2], interrupt = 0;

	*ret = (struct msd_compiler_end){.status = SIGKILL};
	if (pipe2(fds, O_CLOEXEC) != 0)
		return errno;
	const pid_t keeper = fork();
	if (keeper == 0)
		keep(job, owner, fds[1]);
	int error = keeper < 0 ? errno : 0;
	(void)close(fds[1]);
	if (error == 0) {
		(void)setpgid(keeper,
			      keeper); /* set by parent and child, in either order */
		error = wait_for(keeper, ends, &interrupt);
	}
	/* A killed keeper has written nothing. */
	(void)fcntl(fds[0], F_SETFL, O_NONBLOCK);
	if (error == 0 && read(fds[0], ret, sizeof(*ret)) != (ssize_t)sizeof(*ret)) {
		*ret = (struct msd_compiler_end){.is_confined = true,
						 .status = SIGKILL};
	}
	(void)close(fds[0]);
	ret->interrupt = interrupt;
	return error;
}
