/*
 * Descriptors that a connection receives.
 *
 * Happy path: a descriptor arrives with the first byte of a frame, and the handler of
 * the frame takes it. Failures: no handler takes it: a thread closes it. Descriptors
 * arrive faster than threads close them: later bytes that carry descriptors are read
 * later. Closes of the peer's descriptors do not return: the connection is closed.
 */
#include <fcntl.h>
#include <string.h>

#include "daemon/loop/closer.h"
#include "daemon/stream/conn_parts.h"

/* Maximum time to wait for closes that sleep. */
#define CROWDED_NS UINT64_C(10000000000)

void msd_conn_close_fds(struct msd_conn *c)
{
	for (unsigned i = 0; i < c->fds.n; i++)
		msd_closer_close_passed(c->fds.fd[i], c->transport.passer);
	c->fds.n = 0;
}

/* True for a memfd, or a file in memory, whose close() returns. */
static bool is_memory(int fd)
{
	return fcntl(fd, F_GET_SEALS) >= 0;
}

void msd_conn_close_unwanted_fds(struct msd_conn *c, bool is_in_frame)
{
	bool is_unwanted = !is_in_frame && c->spare == NULL;

	for (unsigned i = 0; i < c->fds.n && c->limits.leaves_last_fds; i++) {
		const int fd = c->fds.fd[i];

		is_unwanted =
			is_unwanted || msd_wire_is_last(c->wire, fd) || !is_memory(fd);
	}
	if (is_unwanted)
		msd_conn_close_fds(c);
}

bool msd_conn_may_wait_to_bring(struct msd_conn *c)
{
	const uint64_t now = msd_wire_look_ns(c->wire);

	if (c->crowded_ns == 0)
		c->crowded_ns = now;
	return now - c->crowded_ns <= CROWDED_NS;
}

int msd_conn_adopt_fd(struct msd_conn *c)
{
	if (c->fds.n == 0)
		return -1;
	int fd = c->fds.fd[0];
	c->fds.n--;
	memmove(c->fds.fd, c->fds.fd + 1, c->fds.n * sizeof(c->fds.fd[0]));
	return fd;
}
