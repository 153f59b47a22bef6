/* Functions that leave something behind when their process is gone: processes that left
 * its group, its session, its environment and its sight. Each returns when it is there.
 */
#define _GNU_SOURCE

#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/msg.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "ffi.h"

#define MANY 20
#define MOST 1000 /* for a host that does not stop it */
#define OTHERS 16 /* modules that were loaded after this one, at most */
#define EATERS 40
#define MEAL (16u << 20)

/* It ends by itself after a while, for a host that does not kill it. */
static void live_on(void)
{
	const struct timespec pause = {.tv_sec = 600};

	(void)nanosleep(&pause, NULL);
	_exit(0);
}

/* Run @body in a grandchild in a session of its own, whose parent is gone; it says by
 * closing the pipe that it is ready. */
static void daemonize(void (*body)(int ready))
{
	int ready[2];
	char byte;

	if (pipe(ready) != 0)
		abort();
	if (fork() == 0) {
		(void)close(ready[0]);
		(void)setsid();
		if (fork() != 0)
			_exit(0);
		body(ready[1]);
		live_on();
	}
	(void)close(ready[1]);
	(void)!read(ready[0], &byte, 1);
	(void)close(ready[0]);
}

static void just_be(int ready)
{
	(void)close(ready);
}

/* With memory that has a name of its own, mapped. */
static void hold_memory(int ready)
{
	const int fd = memfd_create("left-behind", 0);
	char *p;

	if (fd < 0 || ftruncate(fd, 1 << 20) != 0)
		abort();
	p = mmap(NULL, 1 << 20, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (p == MAP_FAILED)
		abort();
	p[0] = 1;
	(void)close(ready);
}

static void ignore_all(int ready)
{
	for (int i = 1; i < 65; i++)
		(void)signal(i, SIG_IGN);
	(void)prctl(PR_SET_PDEATHSIG, 0);
	(void)prctl(PR_SET_NAME, "innocent");
	(void)close(ready);
}

/* Nothing of the worker's environment or descriptors goes along. */
static void exec_clean(int ready)
{
	char *const argv[] = {"sleep", "600", NULL};
	char *const env[] = {NULL};

	(void)fcntl(ready, F_SETFD, FD_CLOEXEC);
	for (int fd = 0; fd < 1024; fd++) {
		if (fd != ready)
			(void)close(fd);
	}
	(void)execve("/bin/sleep", argv, env);
	_exit(127);
}

static void change_limits(int ready)
{
	const struct rlimit small = {1000000, 1000000};

	(void)setrlimit(RLIMIT_RTTIME, &small);
	(void)close(ready);
}

/* Into those of a module that was loaded some places later. */
static void be_another(int ready, rlim_t later)
{
	struct rlimit own;

	if (getrlimit(RLIMIT_RTTIME, &own) == 0) {
		own.rlim_max -= later;
		own.rlim_cur = own.rlim_max;
		(void)setrlimit(RLIMIT_RTTIME, &own);
	}
	(void)close(ready);
}

static void disguise(int ready)
{
	for (rlim_t later = 1; later < OTHERS; later++) {
		if (fork() == 0) {
			be_another(ready, later);
			live_on();
		}
	}
	be_another(ready, OTHERS);
}

/* A process that lives by a thread which is not its first. */
static void *live_on_behind(void *unused)
{
	live_on();
	return unused;
}

static void be_headless(int ready)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, live_on_behind, NULL) != 0)
		abort();
	(void)close(ready);
	(void)syscall(SYS_exit, 0);
}

/* Orphans of its own come to it. */
static void adopt(int ready)
{
	(void)prctl(PR_SET_CHILD_SUBREAPER, 1);
	for (int i = 0; i < MANY; i++) {
		if (fork() == 0) {
			(void)close(ready);
			(void)setsid();
			if (fork() != 0)
				_exit(0);
			live_on();
		}
	}
	(void)close(ready);
}

/* Each starts the next and ends: whoever looks sees another process each time. */
static void run_away(int ready)
{
	(void)close(ready);
	for (int i = 0; i < 200000; i++) {
		if (fork() != 0)
			_exit(0);
		(void)setsid();
	}
}

FUNCTION(daemon)
{
	daemonize(just_be);
	return 0;
}

FUNCTION(memory)
{
	daemonize(hold_memory);
	return 0;
}

FUNCTION(deaf)
{
	daemonize(ignore_all);
	return 0;
}

FUNCTION(clean)
{
	daemonize(exec_clean);
	return 0;
}

FUNCTION(limits)
{
	daemonize(change_limits);
	return 0;
}

FUNCTION(family)
{
	daemonize(adopt);
	return 0;
}

FUNCTION(disguise)
{
	daemonize(disguise);
	return 0;
}

FUNCTION(headless)
{
	daemonize(be_headless);
	return 0;
}

/* The parent of what it starts is its own: it would be the daemon's child at once. */
FUNCTION(sibling)
{
	if (syscall(SYS_clone, CLONE_PARENT | SIGCHLD, NULL, NULL, NULL, NULL) == 0) {
		(void)setsid();
		live_on();
	}
	return 0;
}

FUNCTION(comet)
{
	daemonize(run_away);
	return 0;
}

/* As many as there may be; returns how many. */
FUNCTION(bomb)
{
	int64_t n_forked = 0;

	while (n_forked < MOST) {
		const pid_t pid = fork();
		if (pid == 0)
			live_on();
		if (pid < 0)
			break;
		n_forked++;
	}
	ret->type = T_INT;
	ret->v.i = n_forked;
	return 0;
}

/* Many processes that each take little, and keep it. Returns how many have eaten. */
FUNCTION(feast)
{
	int eaten[2];
	char byte = 0;
	int64_t n_eaten = 0;

	if (pipe(eaten) != 0)
		abort();
	for (int i = 0; i < EATERS; i++) {
		if (fork() != 0)
			continue;
		volatile char *p = malloc(MEAL);
		for (size_t at = 0; p != NULL && at < MEAL; at += 4096)
			p[at] = 1;
		(void)!write(eaten[1], &byte, p != NULL);
		live_on();
	}
	(void)close(eaten[1]);
	while (n_eaten < EATERS && read(eaten[0], &byte, 1) == 1)
		n_eaten++;
	(void)close(eaten[0]);
	ret->type = T_INT;
	ret->v.i = n_eaten;
	return 0;
}

/* Then die at once. */
FUNCTION(daemon_and_die)
{
	daemonize(just_be);
	_exit(7);
}

/* Shared memory of System V, a set of semaphores and a queue under one key, which is no
 * process's. Returns how many of them were not there yet. */
FUNCTION(numbers)
{
	const key_t key = (key_t)args[0].v.i;
	const int how = IPC_CREAT | IPC_EXCL | 0600;

	ret->type = T_INT;
	ret->v.i = (shmget(key, 4096, how) >= 0) + (semget(key, 1, how) >= 0) +
		   (msgget(key, how) >= 0);
	return 0;
}

FUNCTION(many)
{
	for (int i = 0; i < MANY; i++)
		daemonize(just_be);
	return 0;
}
