/*
 * A plain socket as a transport. Happy path: bytes and descriptors are read and
 * written as the kernel takes them. At the end received bytes are dropped, so that
 * the written bytes arrive.
 *
 * Failures: the closer thread (closer.h) closes sockets whose close() may sleep, and
 * descriptors that do not fit into the caller's array.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/sockios.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "daemon/loop/closer.h"
#include "daemon/stream/transport.h"

#define END_READS 16 /* reads of bytes to drop, before a close */

static void keep_fds(struct msghdr *m, struct msd_fds *fds, uint64_t passer)
{
	for (struct cmsghdr *h = CMSG_FIRSTHDR(m); h != NULL; h = CMSG_NXTHDR(m, h)) {
		if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
			continue;
		size_t n = (h->cmsg_len - CMSG_LEN(0)) / sizeof(int);
		for (size_t i = 0; i < n; i++) {
			int fd;
			memcpy(&fd, CMSG_DATA(h) + i * sizeof(int), sizeof(fd));
			if (fds != NULL && fds->n < MSD_TRANSPORT_FDS) {
				fds->fd[fds->n++] = fd;
			} else {
				msd_closer_close_passed(fd, passer);
			}
		}
	}
}

/*
 * Peek at the received bytes. -EBUSY if descriptors came with them. Otherwise shorten
 * the pieces to the peeked length, because later bytes may carry descriptors. A peek
 * without room for descriptors leaves them in the socket.
 */
static int keep_to_plain(const struct msd_transport *t, struct iovec *pieces, size_t n)
{
	struct msghdr m = {.msg_iov = pieces, .msg_iovlen = n};
	const ssize_t got = recvmsg(t->fd, &m, MSG_DONTWAIT | MSG_PEEK);
	size_t left = got > 0 ? (size_t)got : 0;

	if (got > 0 && (m.msg_flags & MSG_CTRUNC) != 0)
		return -EBUSY;
	for (size_t i = 0; i < n && got > 0; i++) {
		if (pieces[i].iov_len > left)
			pieces[i].iov_len = left;
		left -= pieces[i].iov_len;
	}
	return 0;
}

/* The control buffer holds all descriptors that one read can bring. The kernel would
 * close the rest here, and may sleep in that. */
static ssize_t socket_read(struct msd_transport *t, struct iovec *pieces, size_t n,
			   struct msd_fds *fds)
{
	union {
		char bytes[CMSG_SPACE(MSD_CLOSER_AT_ONCE * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = pieces, .msg_iovlen = n};
	ssize_t got;

	if (t->may_pass_fds && msd_closer_is_crowded(t->passer) &&
	    keep_to_plain(t, pieces, n) != 0)
		return -EBUSY;
	if (t->may_pass_fds) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
	}
	do {
		got = recvmsg(t->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (m.msg_controllen > 0)
		keep_fds(&m, fds, t->passer);
	return got;
}

static ssize_t socket_writev(struct msd_transport *t, struct iovec *pieces, size_t n,
			     int fd)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = pieces, .msg_iovlen = n};
	ssize_t put;

	if (fd >= 0) {
		memset(&control, 0, sizeof(control));
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof(int));
	}
	do {
		put = sendmsg(t->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);
	} while (put < 0 && errno == EINTR);
	return put < 0 ? -errno : put;
}

static int socket_wants(const struct msd_transport *t, int events)
{
	(void)t;
	return events;
}

/* Unread bytes would turn the close into a reset that may overtake the last frame. */
static void socket_end(struct msd_transport *t, void *scratch, size_t n)
{
	struct iovec piece = {scratch, n};

	(void)shutdown(t->fd, SHUT_WR);
	for (int i = 0; i < END_READS; i++) {
		if (socket_read(t, &piece, 1, NULL) <= 0)
			break;
	}
}

static bool is_old_kernel(void)
{
	static int is_old = -1;
	struct utsname name;

	if (is_old < 0)
		is_old = uname(&name) != 0 || msd_closer_wants_unix(name.release);
	return is_old != 0;
}

/* True if close() may sleep. Descriptors in unread bytes are closed with their
 * socket; an old kernel may sleep for any unix socket. */
static bool may_sleep(const struct msd_transport *t)
{
	int unread = 0;

	return t->may_pass_fds &&
	       (ioctl(t->fd, SIOCINQ, &unread) != 0 || unread > 0 || is_old_kernel());
}

/* Free the descriptor number at once, so that it can be reused before the thread
 * closes the socket. If dup fails, the thread closes the number itself. */
static void close_aside(const struct msd_transport *t)
{
	const int other = fcntl(t->fd, F_DUPFD_CLOEXEC, 0);

	if (other >= 0)
		(void)close(t->fd); /* the duplicate is open: does not block */
	msd_closer_close_socket(other >= 0 ? other : t->fd, t->passer);
}

/*
 * After the shutdown nothing more arrives, and the peer does not wait for the thread.
 */
static void socket_close(struct msd_transport *t)
{
	if (t->may_pass_fds)
		(void)shutdown(t->fd, SHUT_RDWR);
	if (may_sleep(t)) {
		close_aside(t);
	} else {
		(void)close(t->fd);
	}
	t->fd = -1;
}

static const struct msd_transport_ops socket_ops = {
	.read = socket_read,
	.writev = socket_writev,
	.wants = socket_wants,
	.end = socket_end,
	.close = socket_close,
};

struct msd_transport msd_transport_of_socket(int fd, bool may_pass_fds)
{
	return (struct msd_transport){
		.ops = &socket_ops, .fd = fd, .may_pass_fds = may_pass_fds};
}
