/* Functions that reach for what is not theirs, each in one way. Each returns 0 when it
 * has got there, else the number of the error; nothing is done with it. */
#define _GNU_SOURCE

#include "escape.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

REACHES(read)
{
	return closed(open(text, O_RDONLY | O_CLOEXEC));
}

REACHES(write)
{
	return closed(open(text, O_WRONLY | O_CLOEXEC));
}

REACHES(create)
{
	return closed(open(text, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
}

REACHES(cut)
{
	return truncate(text, 0);
}

REACHES(remove)
{
	return unlink(text);
}

/* A file's mode, its times and its labels stay what they are. */
REACHES(change_mode)
{
	struct stat st;

	return stat(text, &st) != 0 ? -1 : chmod(text, st.st_mode & 07777);
}

REACHES(change_times)
{
	return utimes(text, NULL);
}

/* Removing what is not there. */
REACHES(change_labels)
{
	const long failed = syscall(SYS_removexattr, text, "user.modserd");

	return failed != 0 && errno != ENODATA && errno != EOPNOTSUPP ? -1 : 0;
}

/* fill(path): as much as a disk may have. */
REACHES(fill)
{
	const int fd = open(text, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	if (fd < 0)
		return -1;
	const int failed = ftruncate(fd, (off_t)1 << 40);
	const int why = errno;
	(void)close(fd);
	errno = why;
	return failed;
}

/* run(path): the program, with no arguments; whatever it says when it ran. */
REACHES(run)
{
	int status = 0;
	const pid_t child = fork();

	if (child == 0) {
		(void)execl(text, text, (char *)NULL);
		_exit(errno);
	}
	if (child < 0 || waitpid(child, &status, 0) != child)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : EINTR;
	return errno == 0 ? 0 : -1;
}

REACHES(connect_unix)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", text);
	if (fd < 0)
		return -1;
	const int failed = connect(fd, (struct sockaddr *)&to, sizeof(to));
	const int why = errno;
	(void)close(fd);
	errno = why;
	return failed;
}

/* A frame of the protocol: ping. */
static const char ping[] = "\xed\x6d\x64\x01\x09\0\0\0\0\0\0\0\0\0\0\0"
			   "\x94\0\x01\xa4ping\x90";

/* Connects and asks; the rest is the answer's. */
static int ask(int fd, const char *path)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", path);
	return connect(fd, (struct sockaddr *)&to, sizeof(to)) == 0 &&
			       send(fd, ping, sizeof(ping) - 1, MSG_NOSIGNAL) > 0
		       ? 0
		       : -1;
}

/* A connection that is ended without an answer is a refusal; closes @fd. */
static int answered(int fd)
{
	char byte;
	const ssize_t n = recv(fd, &byte, 1, 0);

	(void)close(fd);
	errno = EACCES;
	return n == 1 ? 0 : -1;
}

REACHES(ask_unix)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	if (ask(fd, text) == 0)
		return answered(fd);
	const int why = errno == EPIPE || errno == ECONNRESET ? EACCES : errno;
	(void)close(fd);
	errno = why;
	return -1;
}

/* By a child that is gone before the answer can come: whose was the connection? */
REACHES(ask_unix_by_child)
{
	const int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	const pid_t child = fork();
	if (child == 0)
		_exit(ask(fd, text) == 0 ? 0 : 1);
	(void)waitpid(child, NULL, 0);
	return answered(fd);
}

/* One of a pair needs no connection; the address is of a socket of another kind. */
REACHES(send_unix)
{
	struct sockaddr_un to = {.sun_family = AF_UNIX};
	int pair[2];

	(void)snprintf(to.sun_path, sizeof(to.sun_path), "%s", text);
	if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	const ssize_t sent =
		sendto(pair[0], "", 1, 0, (struct sockaddr *)&to, sizeof(to));
	const int why = errno;
	(void)close(pair[0]);
	(void)close(pair[1]);
	errno = why;
	return sent < 0 && errno != EPROTOTYPE ? -1 : 0;
}

/* A socket that would lead out; nothing listens where it is to. */
REACHES(connect_tcp)
{
	struct sockaddr_in to = {.sin_family = AF_INET,
				 .sin_port = htons((uint16_t)atoi(text)),
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd < 0)
		return -1;
	const int failed = connect(fd, (struct sockaddr *)&to, sizeof(to));
	const int why = errno;
	(void)close(fd);
	errno = why;
	return failed;
}

REACHES_PROCESS(signal)
{
	return kill(pid, SIGURG); /* which nobody minds */
}

REACHES_PROCESS(signal_thread)
{
	return (int)syscall(SYS_tgkill, pid, pid, SIGURG);
}

REACHES_PROCESS(signal_by_descriptor)
{
	const int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd < 0)
		return -1;
	const int failed = (int)syscall(SYS_pidfd_send_signal, fd, SIGURG, NULL, 0);
	const int why = errno;
	(void)close(fd);
	errno = why;
	return failed;
}

/* A pipe's owner, who gets a signal when something comes: none that ends it. */
REACHES_PROCESS(signal_by_owner)
{
	int ends[2];

	if (pipe(ends) != 0)
		return -1;
	int failed = fcntl(ends[0], F_SETOWN, pid);
	const int why = errno;
	(void)close(ends[0]);
	(void)close(ends[1]);
	errno = why;
	return failed;
}

REACHES_PROCESS(trace)
{
	const long failed = ptrace(PTRACE_SEIZE, pid, NULL, NULL);

	if (failed == 0) {
		(void)ptrace(PTRACE_INTERRUPT, pid, NULL, NULL);
		(void)waitpid(pid, NULL, __WALL);
		(void)ptrace(PTRACE_DETACH, pid, NULL, NULL);
	}
	return failed != 0 ? -1 : 0;
}

/* From an address where nothing is: who may look is told so by another error. */
REACHES_PROCESS(look)
{
	char byte;
	struct iovec here = {&byte, 1}, there = {(void *)8, 1};

	if (process_vm_readv(pid, &here, 1, &there, 1, 0) >= 0)
		return 0;
	return errno == EFAULT ? 0 : -1;
}

/* What it has open, by its number 0. */
REACHES_PROCESS(take_descriptor)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/fd/0", (int)pid);
	return closed(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
}

REACHES_PROCESS(map_memory)
{
	char path[64];

	(void)snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	return closed(open(path, O_RDONLY | O_CLOEXEC));
}

/* To what they are. */
REACHES_PROCESS(limit)
{
	struct rlimit now;

	return prlimit(pid, RLIMIT_CPU, NULL, &now) != 0
		       ? -1
		       : prlimit(pid, RLIMIT_CPU, &now, NULL);
}

REACHES_PROCESS(renice)
{
	return setpriority(PRIO_PROCESS, (id_t)pid, 0);
}

FUNCTION(ok)
{
	return 0;
}
