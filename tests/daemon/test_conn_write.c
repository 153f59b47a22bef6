#include <criterion/criterion.h>
#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/account.h"
#include "proto/value.h"
#include "tests/daemon/conn_rig.h"

static void count_done(void *ctx, bool sent)
{
	unsigned *counts = ctx;

	counts[sent ? 1 : 0]++;
}

static struct msd_out *reply_of(const uint8_t *payload, size_t n, unsigned *counts)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_response(&o->body, 1, false);
	msd_pack_nil(&o->body);
	msd_pack_nil(&o->body);
	o->on_done = count_done;
	o->ctx = counts;
	cr_assert_neq(msd_out_add_piece(o, payload, n), UINT64_MAX);
	return o;
}

Test(conn_write, an_error_behind_the_last_request_ends_it)
{
	struct rig r;
	unsigned counts[2] = {0};
	uint8_t bytes[512];

	rig_open(&r, false);
	msd_conn_send(&r.conn, reply_of(bytes, sizeof(bytes), counts));
	turn(&r);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	close(r.peer); /* with an unread reply: a reset, behind the request */
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(r.n_closed, 1);
	cr_expect_eq(r.closed_with, MSD_IO, "%s", r.why);
	rig_close(&r);
}

Test(conn_write, what_came_before_a_write_failed_is_read)
{
	struct rig r;
	unsigned counts[2] = {0};
	uint8_t bytes[512];
	size_t n = ping(bytes, 1, 0);

	rig_open(&r, false);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	close(r.peer);
	r.peer = -1;
	msd_conn_send(&r.conn, reply_of(bytes, sizeof(bytes), counts));
	msd_conn_flush(&r.conn); /* before the loop has seen that something came */
	turn(&r);
	cr_expect_eq(counts[0], 1, "the reply was not sent");
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(r.n_closed, 1);
	rig_close(&r);
}

Test(conn_write, writes_pieces_padded_to_the_alignment)
{
	struct rig r;
	unsigned counts[2] = {0};
	const uint8_t one[] = {1, 2, 3}, two[] = {9};
	uint8_t got[1024];

	rig_open(&r, false);
	struct msd_out *o = reply_of(one, sizeof(one), counts);
	cr_expect_eq(msd_out_add_piece(o, two, 1), MSD_TENSOR_ALIGN);
	size_t body = o->body.n;
	msd_conn_send(&r.conn, o);
	turn(&r);
	cr_assert_eq(read(r.peer, got, sizeof(got)),
		     (ssize_t)(body + MSD_TENSOR_ALIGN + 1));
	cr_expect_eq(got[body + 2], 3);
	cr_expect_eq(got[body + 3], 0);
	cr_expect_eq(got[body + MSD_TENSOR_ALIGN], 9);
	cr_expect_eq(counts[1], 1);
	rig_close(&r);
}

Test(conn_write, a_reader_that_is_too_slow_loses_its_connection)
{
	struct rig r;
	unsigned counts[2] = {0};
	static const uint8_t block[256 * 1024];
	unsigned n = 0;

	rig_open(&r, false);
	for (; n < 64 && r.n_closed == 0; n++) {
		msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
		turn(&r);
	}
	cr_expect_eq(r.closed_with, MSD_BUSY);
	cr_expect_eq(counts[0] + counts[1], n, "every frame is done once");
	rig_close(&r);
}

Test(conn_write, a_shared_end_is_a_part_of_the_body)
{
	struct rig r;
	uint8_t got[256];
	struct msd_shared *shared = msd_shared_new(3);
	struct msd_out *o = msd_out_new();

	rig_open(&r, false);
	memcpy(shared->bytes, "abc", 3);
	msd_body_begin_response(&o->body, 1, false);
	const size_t own = o->body.n;
	msd_out_share(o, shared, (struct msd_span){shared->bytes + 1, 2});
	cr_expect_eq(shared->refs, 2);
	msd_conn_send(&r.conn, o);
	turn(&r);
	cr_assert_eq(read(r.peer, got, sizeof(got)), (ssize_t)(own + 2));
	cr_expect_eq(msd_le32(got + 4), own + 2 - MSD_FRAME_HEADER_BYTES);
	cr_expect_eq(msd_le64(got + 8), 0, "no payload");
	cr_expect_eq(memcmp(got + own, "bc", 2), 0);
	cr_expect_eq(shared->refs, 1, "given back with the last byte");
	msd_shared_unref(shared);
	rig_close(&r);
}

Test(conn_write, charges_queued_frames_and_gives_back_what_was_written)
{
	struct rig r;
	struct msd_account account;
	unsigned counts[2] = {0};
	static const uint8_t block[256 * 1024];
	static uint8_t sink[sizeof(block)];

	rig_open(&r, false);
	msd_account_open(&account, NULL, UINT64_MAX);
	r.conn.limits.account = &account;
	for (int i = 0; i < 3; i++)
		msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
	cr_expect_gt(account.used_bytes, 3 * sizeof(block), "and what the frames take");
	for (int i = 0; i < 100 && counts[1] < 3; i++) {
		turn(&r);
		cr_assert_gt(read(r.peer, sink, sizeof(sink)), 0);
	}
	cr_expect_eq(counts[1], 3);
	cr_expect_eq(account.used_bytes, 0);
	rig_close(&r);
}

Test(conn_write, a_closed_connection_holds_nothing)
{
	struct rig r;
	struct msd_account account;
	unsigned counts[2] = {0};
	static const uint8_t block[256 * 1024];

	rig_open(&r, false);
	msd_account_open(&account, NULL, UINT64_MAX);
	r.conn.limits.account = &account;
	for (int i = 0; i < 3; i++)
		msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
	msd_conn_close(&r.conn, MSD_OK, "enough");
	turn(&r);
	cr_expect_eq(r.n_closed, 1);
	cr_expect_eq(account.used_bytes, 0);
	rig_close(&r);
}

Test(conn_write, a_reader_over_its_share_goes_while_others_are_short)
{
	struct rig r;
	struct msd_account all, mine, others;
	unsigned counts[2] = {0};
	static const uint8_t block[256 * 1024];

	rig_open(&r, false);
	msd_account_open(&all, NULL, 1u << 20);
	msd_account_open(&mine, &all, UINT64_MAX);
	msd_account_open(&others, &all, UINT64_MAX);
	r.conn.limits.account = &mine;
	for (int i = 0; i < 3; i++)
		msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
	turn(&r);
	cr_expect_eq(r.n_closed, 0, "nobody is short of it");
	msd_account_charge(&others, 512 * 1024);
	msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_BUSY);
	rig_close(&r);
}

/* Takes what is there. Returns how many bytes that was. */
static size_t drain(int fd)
{
	static uint8_t bytes[1u << 20];
	ssize_t n = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	return n > 0 ? (size_t)n : 0;
}

/* A transport that takes all that it is given. */
static ssize_t take_all(struct msd_transport *t, struct iovec *pieces, size_t n, int fd)
{
	ssize_t sum = 0;

	(void)t;
	(void)fd;
	for (size_t i = 0; i < n; i++)
		sum += (ssize_t)pieces[i].iov_len;
	return sum;
}

Test(conn_write, a_reply_of_a_mib_needs_no_turn_for_its_header)
{
	static const uint8_t block[1u << 20];
	unsigned counts[2] = {0};
	struct rig r;

	rig_open(&r, false);
	struct msd_transport_ops ops = *r.conn.transport.ops;
	ops.writev = take_all;
	r.conn.transport.ops = &ops;
	msd_conn_send(&r.conn, reply_of(block, sizeof(block), counts));
	msd_conn_flush(&r.conn);
	cr_expect_eq(counts[1], 1);
	rig_close(&r);
}

Test(conn_write, many_replies_are_written_in_turns)
{
	enum { REPLIES = 4096 };
	struct rig r;
	unsigned counts[2] = {0};
	const uint8_t byte = 1;

	rig_open(&r, false);
	for (unsigned i = 0; i < REPLIES; i++)
		msd_conn_send(&r.conn, reply_of(&byte, 1, counts));
	(void)uv_run(&r.loop, UV_RUN_NOWAIT);
	cr_expect_gt(counts[1], 0);
	cr_expect_leq(counts[1], 256, "%u are more than a turn's", counts[1]);
	for (unsigned i = 0; i < REPLIES && counts[1] < REPLIES; i++) {
		(void)drain(r.peer);
		turn(&r);
	}
	cr_expect_eq(counts[1], REPLIES);
	rig_close(&r);
}

/* A socket of a user who has too many descriptors on their way, for some writes. */
static struct msd_transport_ops refusing;
static ssize_t (*socket_writev)(struct msd_transport *t, struct iovec *pieces, size_t n,
				int fd);
static unsigned n_writes, n_refusals;

static ssize_t refusing_writev(struct msd_transport *t, struct iovec *pieces, size_t n,
			       int fd)
{
	return n_writes++ < n_refusals ? -ETOOMANYREFS
				       : socket_writev(t, pieces, n, fd);
}

static void open_refusing(struct rig *r, unsigned refusals)
{
	rig_open(r, false);
	refusing = *r->conn.transport.ops;
	socket_writev = refusing.writev;
	refusing.writev = refusing_writev;
	r->conn.transport.ops = &refusing;
	n_writes = 0;
	n_refusals = refusals;
}

Test(conn_write, a_descriptor_that_is_not_taken_is_tried_again)
{
	struct rig r;
	unsigned counts[2] = {0};
	const uint8_t byte = 1;

	open_refusing(&r, 3);
	msd_conn_send(&r.conn, reply_of(&byte, 1, counts));
	msd_conn_flush(&r.conn);
	cr_expect_eq(r.conn.events, UV_READABLE, "a ready socket would keep it awake");
	while (counts[1] == 0 && r.n_closed == 0)
		(void)uv_run(&r.loop, UV_RUN_NOWAIT);
	cr_expect_eq(n_writes, 4);
	rig_close(&r);
}

Test(conn_write, a_descriptor_that_is_never_taken_ends_it)
{
	struct rig r;
	unsigned counts[2] = {0};
	const uint8_t byte = 1;

	open_refusing(&r, UINT32_MAX);
	msd_conn_send(&r.conn, reply_of(&byte, 1, counts));
	msd_conn_flush(&r.conn);
	pass_time(UINT64_C(121000000000));
	while (r.n_closed == 0)
		(void)uv_run(&r.loop, UV_RUN_NOWAIT);
	cr_expect_eq(r.closed_with, MSD_IO);
	cr_expect_str_eq(r.why, strerror(ETOOMANYREFS));
	rig_close(&r);
}

/* What one frame was told of. */
struct watched {
	struct msd_written written;
	uint64_t ns;
	unsigned n_sent, n_lost;
};

static void tell(struct msd_written *w, uint64_t ns, uint32_t n, bool sent)
{
	struct watched *watched = MSD_CONTAINER_OF(w, struct watched, written);

	watched->ns = ns;
	watched->n_sent += sent ? n : 0;
	watched->n_lost += sent ? 0 : n;
}

Test(conn_write, is_timed_from_being_queued_to_the_last_byte)
{
	struct rig r;
	unsigned counts[2] = {0};
	uint8_t bytes[512] = {0};
	struct watched w = {.written.tell = tell};
	struct msd_out *o = reply_of(bytes, sizeof(bytes), counts);

	rig_open(&r, false);
	o->written = &w.written;
	r.wire.now_ns = 1000;
	msd_conn_send(&r.conn, o);
	cr_expect_eq(w.n_sent, 0);
	r.wire.now_ns = 1700;
	msd_conn_flush(&r.conn);
	cr_expect_eq(w.n_sent, 1);
	cr_expect_eq(w.ns, 700);
	rig_close(&r);
}

Test(conn_write, one_that_is_not_written_is_told_of_too)
{
	struct rig r;
	unsigned counts[2] = {0};
	uint8_t bytes[512] = {0};
	struct watched w = {.written.tell = tell};
	struct msd_out *o = reply_of(bytes, sizeof(bytes), counts);

	rig_open(&r, false);
	o->written = &w.written;
	msd_conn_close(&r.conn, MSD_OK, "no more");
	msd_conn_send(&r.conn, o);
	cr_expect_eq(w.n_lost, 1);
	cr_expect_eq(w.n_sent, 0);
	rig_close(&r);
}
