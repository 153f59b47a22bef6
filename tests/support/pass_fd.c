#include "tests/support/pass_fd.h"

#include <string.h>
#include <sys/socket.h>

ssize_t pass_fd(int to, struct iovec *pieces, size_t n, int fd, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr m = {.msg_iov = pieces, .msg_iovlen = n};

	if (fd >= 0) {
		m.msg_control = control.bytes;
		m.msg_controllen = sizeof(control.bytes);
		struct cmsghdr *h = CMSG_FIRSTHDR(&m);
		h->cmsg_level = SOL_SOCKET;
		h->cmsg_type = SCM_RIGHTS;
		h->cmsg_len = CMSG_LEN(sizeof(int));
		memcpy(CMSG_DATA(h), &fd, sizeof(int));
	}
	return sendmsg(to, &m, flags | MSG_NOSIGNAL);
}
