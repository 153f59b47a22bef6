#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/wire/transport.h"

#define END_READS 16 /* of bytes that nobody wants, before a close */

static void keep_fds(struct msghdr *m, struct msd_fds *fds)
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
				(void)close(fd);
			}
		}
	}
}

static ssize_t socket_read(struct msd_transport *t, struct iovec *pieces, size_t n,
			   struct msd_fds *fds)
{
	union {
		char bytes[CMSG_SPACE(MSD_TRANSPORT_FDS * sizeof(int))];
		struct cmsghdr align;
	} control;
	struct msghdr m = {.msg_iov = pieces,
			   .msg_iovlen = n,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	ssize_t got;

	do {
		got = recvmsg(t->fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
	} while (got < 0 && errno == EINTR);
	if (got < 0)
		return -errno;
	if (m.msg_controllen > 0)
		keep_fds(&m, fds);
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
	(void)shutdown(t->fd, SHUT_WR);
	for (int i = 0; i < END_READS; i++) {
		if (recv(t->fd, scratch, n, MSG_DONTWAIT) <= 0)
			break;
	}
}

static void socket_close(struct msd_transport *t)
{
	(void)close(t->fd);
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
