/* Functions that reach for what the kernel has, and for files by descriptors that may
 * only be read. As in escape.c nothing is done with what they get. */
#define _GNU_SOURCE

#include <fcntl.h>
#include <linux/aio_abi.h>
#include <linux/btrfs.h>
#include <linux/fs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/inotify.h>
#include <sys/ioctl.h>
#include <sys/ipc.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>

#include "escape.h"

/* Of the kernel: ENOSYS and EINVAL are no refusals. */
#define REACHES_KERNEL(name, call)                                                     \
	FUNCTION(name)                                                                 \
	{                                                                              \
		return tell(ret, (call) < 0 && errno == EPERM);                        \
	}

REACHES_KERNEL(unshare_user, unshare(CLONE_NEWUSER))
REACHES_KERNEL(mount_nothing, mount("none", "/nowhere", "tmpfs", 0, NULL))
REACHES_KERNEL(bpf_nothing, syscall(SYS_bpf, -1, NULL, 0))
REACHES_KERNEL(key_nothing, syscall(SYS_keyctl, -1, 0, 0, 0, 0))
REACHES_KERNEL(share_nothing, syscall(SYS_shmget, IPC_PRIVATE, 0, 0))
REACHES_KERNEL(queue_nothing, syscall(SYS_mq_open, NULL, 0, 0, NULL))
REACHES_KERNEL(uring_nothing, syscall(SYS_io_uring_setup, 0, NULL))

REACHES_KERNEL(subvolume_nothing, ioctl(-1, BTRFS_IOC_SUBVOL_CREATE, NULL))
/* What a user, or the machine, has only so many of. */
REACHES_KERNEL(queue_io_nothing, syscall(SYS_io_setup, 1, NULL))
REACHES_KERNEL(wait_for_others_nothing, closed(epoll_create1(EPOLL_CLOEXEC)))

/* By what the worker itself waits with. */
static int wait_too(void)
{
	struct epoll_event event = {0};
	char path[64], is[64];

	for (int fd = 3; fd < 1024; fd++) {
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		const ssize_t n = readlink(path, is, sizeof(is) - 1);
		is[n > 0 ? n : 0] = '\0';
		if (strstr(is, "[eventpoll]") == NULL)
			continue;
		int ends[2];
		if (pipe(ends) != 0)
			return -1;
		const int failed = epoll_ctl(fd, EPOLL_CTL_ADD, ends[0], &event);
		const int why = errno;
		(void)close(ends[0]);
		(void)close(ends[1]);
		errno = why;
		return failed;
	}
	errno = ENOENT;
	return -1;
}
REACHES_KERNEL(wait_by_worker_nothing, wait_too())

/* A pair through which descriptors go. */
static int pair(void)
{
	int ends[2];

	return socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0
		       ? -1
		       : (close(ends[0]), close(ends[1]));
}
REACHES_KERNEL(send_descriptors_nothing, pair())

/* By any family of sockets but the machine's own two: not having one is no refusal. */
static int any_family(void)
{
	int refused = 0;

	for (int family = 0; family < 64; family++) {
		if (family == AF_UNIX || family == AF_NETLINK)
			continue;
		if (closed(socket(family, SOCK_STREAM, 0)) == 0 || errno != EPERM)
			return 0;
		refused++;
	}
	errno = EPERM;
	return refused == 62 ? -1 : 0;
}
REACHES_KERNEL(talk_otherwise_nothing, any_family())

/* Names that come and go in a folder; such a watch is one of few that a user has. */
REACHES(watch)
{
	const int fd = inotify_init1(IN_CLOEXEC);
	const int failed = fd < 0 || inotify_add_watch(fd, text, IN_CREATE) < 0;
	const int why = errno;

	(void)closed(fd);
	errno = why;
	return failed ? -1 : 0;
}

/* What is to be done with a file that is open to be read. */
static int with(const char *path, int (*act)(int fd))
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0)
		return -1;
	const int failed = act(fd);
	const int why = errno;
	(void)close(fd);
	errno = why;
	return failed;
}

static int change_mode(int fd)
{
	struct stat st;

	return fstat(fd, &st) != 0 ? -1 : fchmod(fd, st.st_mode & 07777);
}

static int change_owner(int fd)
{
	return fchown(fd, (uid_t)-1, (gid_t)-1);
}

static int change_times(int fd)
{
	return futimens(fd, NULL);
}

static int change_labels(int fd)
{
	const long failed = syscall(SYS_fremovexattr, fd, "user.modserd");

	return failed != 0 && errno != ENODATA && errno != EOPNOTSUPP ? -1 : 0;
}

/* To what they are; not every file system has some. */
static int change_flags(int fd)
{
	int flags = 0;

	if (ioctl(fd, FS_IOC_GETFLAGS, &flags) != 0 && errno != ENOTTY)
		return -1;
	return ioctl(fd, FS_IOC_SETFLAGS, &flags) != 0 && errno != ENOTTY ? -1 : 0;
}

/* Who opens it to write waits until the lease is given back. */
static int delay(int fd)
{
	return fcntl(fd, F_SETLEASE, F_RDLCK);
}

REACHES(change_open_mode)
{
	return with(text, change_mode);
}

REACHES(change_open_owner)
{
	return with(text, change_owner);
}

REACHES(change_open_times)
{
	return with(text, change_times);
}

REACHES(change_open_labels)
{
	return with(text, change_labels);
}

REACHES(change_open_flags)
{
	return with(text, change_flags);
}

REACHES(delay_writers)
{
	return with(text, delay);
}
