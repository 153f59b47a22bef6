#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "proto/value.h"
#include "tests/daemon/conn_rig.h"

/* A transport that is not a socket as it is: every byte on the way is inverted. What a
 * connection did past it would arrive as it was, and be no frame. */
static void invert(void *bytes, size_t n)
{
	uint8_t *p = bytes;

	for (size_t i = 0; i < n; i++)
		p[i] = (uint8_t)~p[i];
}

static ssize_t inverted_read(struct msd_transport *t, struct iovec *pieces, size_t n,
			     struct msd_fds *fds)
{
	(void)fds;
	ssize_t got = readv(t->fd, pieces, (int)n);

	if (got < 0)
		return -errno;
	size_t left = (size_t)got;
	for (size_t i = 0; i < n && left > 0; i++) {
		size_t here = left < pieces[i].iov_len ? left : pieces[i].iov_len;
		invert(pieces[i].iov_base, here);
		left -= here;
	}
	return got;
}

/* At most seven bytes at a time: the connection goes on where it stopped. */
static ssize_t inverted_writev(struct msd_transport *t, struct iovec *pieces, size_t n,
			       int fd)
{
	uint8_t few[7];
	size_t here = pieces[0].iov_len < sizeof(few) ? pieces[0].iov_len : sizeof(few);

	(void)n;
	cr_expect_eq(fd, -1);
	memcpy(few, pieces[0].iov_base, here);
	invert(few, here);
	ssize_t put = write(t->fd, few, here);
	return put < 0 ? -errno : put;
}

static int inverted_wants(const struct msd_transport *t, int events)
{
	(void)t;
	return events;
}

static unsigned n_ends, n_closes;

static void inverted_end(struct msd_transport *t, void *scratch, size_t n)
{
	(void)t;
	(void)scratch;
	(void)n;
	n_ends++;
}

static void inverted_close(struct msd_transport *t)
{
	n_closes++;
	close(t->fd);
}

static const struct msd_transport_ops inverted = {.read = inverted_read,
						  .writev = inverted_writev,
						  .wants = inverted_wants,
						  .end = inverted_end,
						  .close = inverted_close};

Test(transport, carries_all_that_is_read)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	r.conn.transport.ops = &inverted;
	r.answer = MSD_PLACE_HERE;
	size_t n = ping(bytes, 7, 300);
	invert(bytes, n);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(r.last_id, 7);
	cr_expect_eq(r.place[299], 0xab);
	rig_close(&r);
}

Test(transport, carries_all_that_is_written_and_the_end)
{
	struct rig r;
	uint8_t bytes[512];
	struct msd_frame frame;

	rig_open(&r, false);
	r.conn.transport.ops = &inverted;
	struct msd_out *o = msd_out_new();
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 0);
	msd_conn_send(&r.conn, o);
	turn(&r);
	ssize_t n = read(r.peer, bytes, sizeof(bytes));
	cr_assert_gt(n, MSD_FRAME_HEADER_BYTES);
	invert(bytes, (size_t)n);
	cr_assert_eq(msd_frame_read(bytes, 4096, 4096, &frame, NULL), MSD_OK);
	cr_expect_eq(frame.body_bytes, (size_t)n - MSD_FRAME_HEADER_BYTES);
	msd_conn_close(&r.conn, MSD_BUSY, "a reason to say farewell");
	cr_expect_eq(n_ends, 1);
	cr_expect_eq(n_closes, 1);
	rig_close(&r);
}

/* Takes all that is there with the first read, and hands it out three bytes at a time:
 * so no event tells of the rest. */
static uint8_t stash[512];
static size_t n_stash, stash_at;

static ssize_t holding_read(struct msd_transport *t, struct iovec *pieces, size_t n,
			    struct msd_fds *fds)
{
	(void)fds;
	cr_assert_gt(n, 0);
	if (stash_at == n_stash) {
		const ssize_t got = recv(t->fd, stash, sizeof(stash), MSG_DONTWAIT);
		if (got <= 0)
			return got < 0 ? -errno : 0;
		n_stash = (size_t)got;
		stash_at = 0;
	}
	const size_t left = n_stash - stash_at;
	const size_t take = left < 3 ? left : 3;
	cr_assert_leq(take, pieces[0].iov_len);
	memcpy(pieces[0].iov_base, stash + stash_at, take);
	stash_at += take;
	return (ssize_t)take;
}

static bool holding_holds(const struct msd_transport *t)
{
	(void)t;
	return stash_at < n_stash;
}

static const char *holding_cause(const struct msd_transport *t)
{
	(void)t;
	return "a cause of its own";
}

static ssize_t broken_writev(struct msd_transport *t, struct iovec *pieces, size_t n,
			     int fd)
{
	(void)t;
	(void)pieces;
	(void)n;
	(void)fd;
	return -EPROTO;
}

static const struct msd_transport_ops holding = {.read = holding_read,
						 .writev = broken_writev,
						 .wants = inverted_wants,
						 .holds = holding_holds,
						 .cause = holding_cause,
						 .end = inverted_end,
						 .close = inverted_close};

static void open_holding(struct rig *r)
{
	rig_open(r, false);
	n_stash = stash_at = 0;
	r->conn.transport.ops = &holding;
}

Test(transport, bytes_that_it_holds_are_read_without_an_event)
{
	struct rig r;
	uint8_t bytes[512];

	open_holding(&r);
	const size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	(void)ping(bytes, 2, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 2);
	cr_expect_eq(r.last_id, 2);
	rig_close(&r);
}

Test(transport, bytes_that_it_holds_are_read_after_a_pause)
{
	struct rig r;
	uint8_t bytes[512];

	open_holding(&r);
	const size_t n = ping(bytes, 3, 0);
	memcpy(stash, bytes, n);
	n_stash = n;
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	turn(&r);
	cr_expect_eq(r.n_frames, 0);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(r.last_id, 3);
	rig_close(&r);
}

Test(transport, its_own_cause_is_told)
{
	struct rig r;

	open_holding(&r);
	struct msd_out *o = msd_out_new();
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 0);
	msd_conn_send(&r.conn, o);
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_IO);
	cr_expect_str_eq(r.why, "a cause of its own");
	rig_close(&r);
}

/* A socketpair with @n descriptors on their way to ends[0]. */
static void pass(int ends[2], unsigned n, int fd)
{
	struct msd_transport sender;
	char byte = 'x';
	struct iovec piece = {&byte, 1};

	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	sender = msd_transport_of_socket(ends[1], true);
	for (unsigned i = 0; i < n; i++)
		cr_assert_eq(sender.ops->writev(&sender, &piece, 1, fd), 1);
}

Test(socket, hands_over_a_descriptor_with_its_byte)
{
	struct msd_fds fds = {.n = 0};
	char bytes[4];
	struct iovec piece = {bytes, sizeof(bytes)};
	int ends[2];

	pass(ends, 1, STDERR_FILENO);
	struct msd_transport t = msd_transport_of_socket(ends[0], true);
	cr_expect_eq(t.ops->read(&t, &piece, 1, &fds), 1);
	cr_assert_eq(fds.n, 1);
	cr_expect_neq(fcntl(fds.fd[0], F_GETFD) & FD_CLOEXEC, 0);
	cr_expect_eq(t.ops->read(&t, &piece, 1, &fds), -EAGAIN);
	close(fds.fd[0]);
	t.ops->close(&t);
	close(ends[1]);
}

Test(socket, closes_descriptors_that_nobody_wants)
{
	char bytes[4];
	struct iovec piece = {bytes, sizeof(bytes)};
	int ends[2], held[2];

	cr_assert_eq(pipe(held), 0);
	pass(ends, 1, held[1]);
	close(held[1]);
	struct msd_transport t = msd_transport_of_socket(ends[0], true);
	cr_expect_eq(t.ops->read(&t, &piece, 1, NULL), 1);
	cr_expect_eq(read(held[0], bytes, 1), 0, "no writer is left");
	close(held[0]);
	close(ends[1]);
	cr_expect_eq(t.ops->read(&t, &piece, 1, NULL), 0, "the end");
	t.ops->close(&t);
}
