#include "daemon/child/spawn_thread.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/close_range.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "daemon/child/user.h"

/*
 * Happy path: the thread gets its own descriptor table, which holds its end of a
 * socket pair. A message carries the address of a birth and its descriptors. clone()
 * makes a child, which moves the descriptors to their numbers and executes its
 * program. The reply is one byte.
 *
 * Failures: the child stores an errno in the shared memory. If the thread cannot have
 * its own table, it uses the daemon's, and nothing else changes.
 */

#define STACK_BYTES (64u * 1024u) /* child's stack, until its exec */
#define OWN_CHANNEL 3             /* number in its own table */
#define NO_EXEC 127               /* exit status; never seen */

/* Functions of the child run in the daemon's memory, on a stack that the sanitizers
 * do not know. */
#define IN_CHILD __attribute__((no_sanitize("address", "undefined")))

/* State of the child. The descriptors are numbers in its own table. */
struct womb {
	const struct msd_spawn_thread_how *how;
	int fds[MSD_SPAWN_THREAD_FDS];
	int error;
};

union control {
	char bytes[CMSG_SPACE(sizeof(int) * MSD_SPAWN_THREAD_FDS)];
	struct cmsghdr head;
};

/* No signal handler of the daemon may run in a child, because it shares the daemon's
 * memory. The C library's own signals are for its threads. */
IN_CHILD static int forget_signals(void)
{
	const struct sigaction plain = {.sa_handler = SIG_DFL};
	sigset_t none;

	for (int i = 1; i < NSIG; i++)
		(void)sigaction(i, &plain, NULL); /* fails for KILL and STOP */
	(void)sigemptyset(&none);
	return pthread_sigmask(SIG_SETMASK, &none, NULL);
}

/* Use system calls: the library's functions would change all threads that it knows,
 * and these are the daemon's. */
IN_CHILD static int become(const struct msd_child_user *user)
{
	if (user == NULL)
		return 0;
	if (syscall(SYS_setgroups, 0, NULL) != 0 && getgroups(0, NULL) != 0)
		return EPERM;
	/* EINVAL: kernels before 4.3 have none. */
	if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0 &&
	    errno != EINVAL)
		return errno;
	if (syscall(SYS_setgid, user->gid) != 0 || syscall(SYS_setuid, user->uid) != 0)
		return errno;
	return 0;
}

/* Move all descriptors above the target numbers first, then to their targets. */
IN_CHILD static int place_descriptors(struct womb *b)
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

IN_CHILD static int begin(void *womb)
{
	struct womb *b = womb;

	(void)setsid();
	(void)unshare(CLONE_NEWIPC); /* without permission: the daemon's */
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

/* When clone() returns, the child has other memory, or is dead. */
static void give_birth(struct msd_spawn_thread *r, const int *fds, char *stack)
{
	struct womb b = {.how = &r->how};
	unsigned n = 0;
	/*
	 * A process that changes its user makes its memory, which is also the
	 * daemon's, undumpable: no core, no access by other processes. Restored
	 * below.
	 */
	const int is_dumpable = prctl(PR_GET_DUMPABLE, 0, 0, 0, 0);

	for (unsigned i = 0; i < r->how.n_fds; i++)
		b.fds[i] = r->how.fds[i] >= 0 ? fds[n++] : -1;
	r->pid = clone(begin, stack + STACK_BYTES,
		       CLONE_VM | CLONE_VFORK | CLONE_PARENT_SETTID | SIGCHLD, &b,
		       &r->born);
	r->error = r->pid < 0 ? errno : b.error;
	if (is_dumpable == 1)
		(void)prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
}

static unsigned count_given(const struct msd_spawn_thread_how *how)
{
	unsigned n = 0;

	for (unsigned i = 0; i < how->n_fds; i++)
		n += how->fds[i] >= 0;
	return n;
}

/* NULL: no more births follow. */
static struct msd_spawn_thread *receive(int from, int fds[MSD_SPAWN_THREAD_FDS],
					unsigned *n)
{
	struct msd_spawn_thread *r = NULL;
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
	int fds[MSD_SPAWN_THREAD_FDS] = {0};
	unsigned n;
	struct msd_spawn_thread *r;

	while ((r = receive(channel, fds, &n)) != NULL) {
		if (n == count_given(&r->how)) {
			give_birth(r, fds, stack);
		} else {
			r->error = EMFILE; /* the daemon's table is full */
		}
		while (n > 0)
			(void)close(fds[--n]);
		(void)send(channel, "", 1, MSG_NOSIGNAL);
	}
}

/* Valgrind, as of 3.19, reports success, and then closes the descriptors of all
 * threads. */
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

/* Make a table with @channel behind standard error, where a library may print errors,
 * and with nothing else. -1 if that fails. */
static int have_own_table(int channel)
{
	/* Called for its flag: it closes nothing. */
	if (syscall(SYS_close_range, ~0u, ~0u, CLOSE_RANGE_UNSHARE) != 0 ||
	    is_table_shared())
		return -1;
	if (channel != OWN_CHANNEL)
		(void)dup3(channel, OWN_CHANNEL, O_CLOEXEC);
	(void)syscall(SYS_close_range, OWN_CHANNEL + 1u, ~0u, 0u);
	return OWN_CHANNEL;
}

void *msd_spawn_thread_serve(void *room)
{
	struct msd_spawn_thread_room *given = room;
	int channel = given->channel;
	char *stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
			   MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	const char is_ready = stack != MAP_FAILED ? 1 : 0;

	given->thread_id = gettid();
	const int own = is_ready ? have_own_table(channel) : -1;
	given->shares_table = own < 0;
	if (own >= 0)
		channel = own;
	(void)send(channel, &is_ready, 1, MSG_NOSIGNAL);
	if (is_ready) {
		serve(channel, stack);
		(void)munmap(stack, STACK_BYTES);
	}
	if (own >= 0)
		(void)close(channel);
	return NULL;
}

int msd_spawn_thread_ask(int fd, struct msd_spawn_thread *r)
{
	const struct msd_spawn_thread_how *how = &r->how;
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
