#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/stream/socket_pair.h"

#define PASSRIGHTS 83 /* SO_PASSRIGHTS of Linux 6.16 */

static int ends[2];

static void open_pair(void)
{
	struct msd_diag d = {0};

	cr_assert_eq(msd_socket_pair_open(ends, &d), MSD_OK, "%s", msd_diag_text(&d));
	if (!msd_socket_pair_is_tight())
		cr_skip_test("this kernel has no SO_PASSRIGHTS");
}

static void close_pair(void)
{
	(void)close(ends[0]);
	(void)close(ends[1]);
}

TestSuite(pair, .init = open_pair, .fini = close_pair);

/* 0, or why a byte with a descriptor was not sent. */
static int send_descriptor(int to, int flags)
{
	union {
		char bytes[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {0};
	char byte = 'x';
	const int passed = STDERR_FILENO;
	struct iovec iov = {&byte, 1};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.bytes,
			   .msg_controllen = sizeof(control.bytes)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &passed, sizeof(int));
	return sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT | flags) == 1 ? 0 : errno;
}

static void let_in(int fd)
{
	const int on = 1;

	cr_assert_eq(setsockopt(fd, SOL_SOCKET, PASSRIGHTS, &on, sizeof(on)), 0);
}

Test(pair, takes_no_descriptor_in_either_direction)
{
	char byte;

	for (int i = 0; i < 2; i++) {
		cr_expect_eq(send_descriptor(ends[i], 0), EPERM);
		cr_expect_neq(send_descriptor(ends[i], MSG_OOB), 0);
		cr_expect_eq(recv(ends[1 - i], &byte, 1, MSG_DONTWAIT), -1);
		cr_expect_eq(errno, EAGAIN, "nothing was on its way");
	}
}

Test(pair, passes_bytes)
{
	char byte;

	cr_expect_eq(write(ends[0], "a", 1), 1);
	cr_expect_eq(read(ends[1], &byte, 1), 1);
	cr_expect_eq(byte, 'a');
}

Test(pair, is_opened_to_descriptors_by_who_receives_them_alone)
{
	let_in(ends[0]);
	cr_expect_eq(send_descriptor(ends[0], 0), EPERM, "it is the other end's");
	cr_expect_eq(send_descriptor(ends[1], 0), 0, "what comes to that end");
}
