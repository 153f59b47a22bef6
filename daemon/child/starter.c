#include "daemon/child/starter.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "daemon/child/user.h"

/*
 * Happy path: the thread gets a table of its own, with its end of a socket pair in it;
 * a message brings a request's address and its descriptors; clone() makes a child,
 * which puts them to their places and executes its program; the answer is one byte.
 * Failures: the child leaves an errno in the memory that it shares, and is waited for;
 * it has no program for too long: it is killed, and then there is an answer; no such
 * table can be had: that of the daemon is used, and nothing else changes.
 */

#define STACK_BYTES (64u * 1024u) /* of a child, until its exec */
#define OWN_CHANNEL 3             /* in a table of its own */
#define NO_EXEC 127               /* its status; nobody sees it */

/* The child's functions run on memory of the daemon's that no sanitizer of the thread
 * knows as a stack. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

/* On the caller's stack, which waits for the answer. */
struct request {
	const struct msd_start_how *how;
	pid_t born; /* written by the kernel, before the child runs; 0: none yet */
	pid_t pid;
	int error;
};

/* What the child works with. Its own descriptors, in its own table. */
struct birth {
	const struct msd_start_how *how;
	int fds[MSD_STARTER_FDS];
	int error;
};

union control {
	char bytes[CMSG_SPACE(sizeof(int) * MSD_STARTER_FDS)];
	struct cmsghdr head;
};

/* No handler of the daemon's may run in a child, in the daemon's memory. Those that are
 * the library's own are for its threads. */
IN_CHILD static int forget_signals(void)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &plain, NULL); /* not of KILL and STOP */
	(void)sigemptyset(&none);
	return pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* By system calls: the library's functions would change all threads that it knows, and
 * these are the daemon's. */
IN_CHILD static int become(const struct msd_child_user *user)
{
	if (user == NULL)
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) != 0 && getgroups(0, NULL) != 0)
		return EPERM;
	/* EINVAL: the kernel, before 4.3, has none. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 &&
	    errno != EINVAL)
		return errno;
	if (syscall(SYS_setgid, user->gid) != 0 || syscall(SYS_setuid, user->uid) != 0)
		return errno;
	return 0;
}

/* First out of the way of the others' places, then to their own. */
IN_CHILD static int place_descriptors(struct birth *b)
{
	const int n = (int)b->how->n_fds;

	for (int i = 0; i < n; i++) {
		const int fd = b->fds[i] >= 0 ? b->fds[i]
					      : open("/dev/null", O_RDWR | O_CLOEXEC);
		b->fds[i] = fcntl(fd, F_DUPFD_CLOEXEC, n);
		if (b->fds[i] < 0)
			return errno;
	}
	for (int i = 0; i < n; i++) {
		if (dup2(b->fds[i], i) < 0)
			return errno;
	}
	return 0;
}

IN_CHILD static int begin(void *birth)
{
	struct birth *b = birth;

	(void)setsid();
	(void)unshare(CLONE_NEWIPC); /* who may not shares the daemon's */
	b->error = place_descriptors(b);
	if (b->error == 0)
		b->error = become(b->how->user);
	if (b->error == 0)
		b->error = forget_signals();
	if (b->error == 0) {
		(void)execve(b->how->argv[0], b->how->argv, b->how->environment);
		b->error = errno;
	}
	_exit(NO_EXEC);
}

/* When clone() has returned the child has another memory, or is dead. */
static void give_birth(struct request *r, const int *fds, char *stack)
{
	struct birth b = {.how = r->how};
	unsigned n = 0;
	/* A process that becomes another user's makes its memory, the daemon's, one of
	 * which nobody may have a core or a look. */
	const int is_dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);

	for (unsigned i = 0; i < r->how->n_fds; i++)
		b.fds[i] = r->how->fds[i] >= 0 ? fds[n++] : -1;
	r->pid = clone(begin, stack + STACK_BYTES,
		       CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD, &b,
		       &r->born);
	r->error = r->pid < 0 ? errno : b.error;
	if (is_dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static unsigned count_given(const struct msd_start_how *how)
{
	unsigned n = 0;

	for (unsigned i = 0; i < how->n_fds; i++)
		n += how->fds[i] >= 0;
	return n;
}

/* NULL: there will be no more of them. */
static struct request *receive(int from, int fds[MSD_STARTER_FDS], unsigned *n)
{
	struct request *r = NULL;
	struct iovec bytes = {&r, sizeof(r)};
	union control control;
	struct msghdr m = {.msg_iov = &bytes,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control)};
	ssize_t got;

	do {
		got = recvmsg(from, &m, MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	const struct cmsghdr *c = got > 0 ? CMSG_FIRSTHDR(&m) : NULL;
	*n = 0;
	if (c != NULL) {
		*n = (unsigned)((c->cmsg_len - CMSG_LEN(0)) / sizeof(int));
		memcpy(fds, CMSG_DATA(c), *n * sizeof(int));
	}
	return got == sizeof(r) ? r : NULL;
}

static void serve(int channel, char *stack)
{
	int fds[MSD_STARTER_FDS] = {0};
	unsigned n;
	struct request *r;

	while ((r = receive(channel, fds, &n)) != NULL) {
		if (n == count_given(r->how)) {
			give_birth(r, fds, stack);
		} else {
			r->error = EMFILE; /* the daemon's own table is full */
		}
		while (n > 0)
			(void)close(fds[--n]);
		(void)send(channel, "", 1, MSG_NOSIGNAL);
	}
}

/* Valgrind, as of 3.19, says that it has done so, and then closes all for everybody. */
static bool is_table_shared(void)
{
	static const char name[] = "modserd-starter";
	char path[64], link[64] = {0};
	const int mine = memfd_create(name, MFD_CLOEXEC);

	if (mine < 0)
		return false;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", mine); /* the daemon's */
	const ssize_t n = readlink(path, link, sizeof(link) - 1);
	(void)close(mine);
	return n > 0 && strstr(link, name) != NULL;
}

/* A table with @channel behind standard error, where a library may tell of its end, and
 * with nothing else; -1: that cannot be had. */
static int have_own_table(int channel)
{
	/* For its flag: this one closes nothing. */
	if (syscall(SYS_close_range, ~0u, ~0u, CLOSE_RANGE_UNSHARE) != 0 ||
	    is_table_shared())
		return -1;
	if (channel != OWN_CHANNEL)
		(void)dup3(channel, OWN_CHANNEL, O_CLOEXEC);
	(void)syscall(SYS_close_range, OWN_CHANNEL + 1u, ~0u, 0u);
	return OWN_CHANNEL;
}

static void *run(void *starter)
{
	struct msd_starter *s = starter;
	int channel = s->thread_end;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	const char is_ready = stack != MAP_FAILED ? 1 : 0;

	s->thread_id = gettid();
	const int own = is_ready ? have_own_table(channel) : -1;
	s->shares_table = own < 0;
	if (own >= 0)
		channel = own;
	(void)send(channel, &is_ready, 1, MSG_NOSIGNAL);
	if (is_ready) {
		serve(channel, stack);
		(void)munmap(stack, STACK_BYTES);
	}
	if (!s->shares_table)
		(void)close(channel);
	return NULL;
}

static bool hear(int fd, char *ret)
{
	ssize_t n;

	do {
		n = recv(fd, ret, 1, 0);
	} while (n < 0 && errno == EINTR);
	return n == 1;
}

/* With all signals blocked: they are the loop's, and a child's only after its exec. */
static int start_thread(struct msd_starter *s)
{
	sigset_t all, before;

	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);
	const int error = pthread_create(&s->thread, NULL, run, s);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	return error;
}

static void close_ends(struct msd_starter *s)
{
	if (s->to_thread >= 0)
		(void)close(s->to_thread);
	if (s->thread_end >= 0)
		(void)close(s->thread_end);
	s->to_thread = s->thread_end = -1;
}

/* Above standard error, wherever what is there was closed. */
static int open_ends(struct msd_starter *s)
{
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0)
		return errno;
	s->to_thread = fcntl(ends[0], F_DUPFD_CLOEXEC, 3);
	s->thread_end = fcntl(ends[1], F_DUPFD_CLOEXEC, 3);
	const int error = s->to_thread < 0 || s->thread_end < 0 ? errno : 0;
	(void)close(ends[0]);
	(void)close(ends[1]);
	return error;
}

void msd_starter_open(struct msd_starter *s)
{
	char is_ready = 0;

	*s = (struct msd_starter){.to_thread = -1,
				  .thread_end = -1,
				  .patience_ms = MSD_STARTER_PATIENCE_MS};
	s->error = open_ends(s);
	if (s->error == 0)
		s->error = start_thread(s);
	if (s->error != 0) {
		close_ends(s);
		return;
	}
	if (!hear(s->to_thread, &is_ready) || !is_ready) {
		(void)pthread_join(s->thread, NULL);
		close_ends(s);
		s->thread_id = 0;
		s->error = ENOMEM;
		return;
	}
	if (!s->shares_table) { /* the thread has a copy */
		(void)close(s->thread_end);
		s->thread_end = -1;
	}
}

/* The request's address, and its descriptors with it. */
static int send_request(int fd, struct request *r)
{
	const struct msd_start_how *how = r->how;
	const size_t n = count_given(how) * sizeof(int);
	struct iovec bytes = {&r, sizeof(r)};
	union control control = {0};
	struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};
	ssize_t sent;

	if (n > 0) {
		control.head = (struct cmsghdr){.cmsg_len = CMSG_LEN(n),
						.cmsg_level = SOL_SOCKET,
						.cmsg_type = SCM_RIGHTS};
		m.msg_control = control.bytes;
		m.msg_controllen = CMSG_SPACE(n);
		int *at = (int *)(void *)CMSG_DATA(&control.head);
		for (unsigned i = 0; i < how->n_fds; i++) {
			if (how->fds[i] >= 0)
				*at++ = how->fds[i];
		}
	}
	do {
		sent = sendmsg(fd, &m, MSG_NOSIGNAL);
	} while (sent < 0 && errno == EINTR);
	return sent < 0 ? errno : 0;
}

static bool has_answer(const struct msd_starter *s)
{
	struct pollfd p = {.fd = s->to_thread, .events = POLLIN};
	int rc;

	do {
		rc = poll(&p, 1, s->patience_ms);
	} while (rc < 0 && errno == EINTR);
	return rc != 0;
}

int msd_starter_start(struct msd_starter *s, const struct msd_start_how *how,
		      pid_t *ret)
{
	struct request r = {.how = how, .pid = -1};
	bool is_killed = false;
	char answer;

	if (s->to_thread < 0)
		return s->error;
	const int error = send_request(s->to_thread, &r);
	if (error != 0)
		return error;
	while (!has_answer(s)) {
		const pid_t born = __atomic_load_n(&r.born, __ATOMIC_RELAXED);
		/* Nobody waits for it but the caller, below: the number is its own. It
		 * may not be born yet, and is killed the next time. */
		is_killed |= born > 0 && kill(born, SIGKILL) == 0;
	}
	if (!hear(s->to_thread, &answer))
		return EPIPE;
	if (is_killed)
		r.error = ETIMEDOUT;
	if (r.error == 0) {
		*ret = r.pid;
	} else if (r.pid >= 0) {
		(void)waitpid(r.pid, NULL, 0);
	}
	return r.error;
}

void msd_starter_close(struct msd_starter *s)
{
	if (s->to_thread < 0)
		return;
	(void)shutdown(s->to_thread, SHUT_RDWR);
	(void)pthread_join(s->thread, NULL);
	close_ends(s);
}
