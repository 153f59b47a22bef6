#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/wire/conn.h"
#include "proto/value.h"

/* One connection under test, its peer a plain socket that the test writes and reads. */
struct rig {
	uv_loop_t loop;
	struct msd_wire wire;
	struct msd_conn conn;
	int peer;
	unsigned n_frames, n_closed;
	msd_err closed_with;
	char why[200];
	uint8_t place[4096]; /* where payloads go */
	enum msd_place answer;
	uint64_t last_id, last_payload;
	int took_fd;
};

static enum msd_place on_body(struct msd_conn *c, struct msd_in *in)
{
	struct rig *r = c->user;

	in->payload = r->answer == MSD_PLACE_HERE ? r->place : NULL;
	return r->answer;
}

static void on_frame(struct msd_conn *c, struct msd_in *in)
{
	struct rig *r = c->user;

	r->n_frames++;
	r->last_id = in->body.id;
	r->last_payload = in->payload_bytes;
	if (c->limits.takes_fds)
		r->took_fd = msd_conn_take_fd(c);
}

static void on_closed(struct msd_conn *c, msd_err err, const char *why)
{
	struct rig *r = c->user;

	r->n_closed++;
	r->closed_with = err;
	(void)strncpy(r->why, why, sizeof(r->why) - 1);
}

static struct msd_out *farewell(struct msd_conn *c, msd_err err, const char *why)
{
	struct msd_out *o = msd_out_new();

	(void)c;
	(void)err;
	msd_body_begin_notification(&o->body, "session.close");
	msd_pack_cstr(&o->body, why);
	return o;
}

static const struct msd_conn_ops ops = {.on_body = on_body,
					.on_frame = on_frame,
					.on_closed = on_closed,
					.farewell = farewell};

static void rig_open(struct rig *r, bool takes_fds)
{
	const struct msd_conn_limits limits = {.max_body_bytes = 4096,
					       .max_payload_bytes = 4096,
					       .max_queued_bytes = 1u << 20,
					       .takes_fds = takes_fds};
	int ends[2];

	memset(r, 0, sizeof(*r));
	r->took_fd = -1;
	cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
	r->peer = ends[1];
	(void)uv_loop_init(&r->loop);
	cr_assert_eq(msd_wire_init(&r->wire, &r->loop, NULL), MSD_OK);
	cr_assert_eq(msd_conn_open(&r->conn, &r->wire, ends[0], &ops, &limits, r, NULL),
		     MSD_OK);
}

/* Let the loop do all that is ready now. */
static void turn(struct rig *r)
{
	for (int i = 0; i < 4; i++)
		(void)uv_run(&r->loop, UV_RUN_NOWAIT);
}

static void rig_close(struct rig *r)
{
	msd_conn_close(&r->conn, MSD_OK, "test over");
	turn(r);
	cr_expect_eq(r->n_closed, 1, "on_closed comes once");
	msd_wire_close(&r->wire);
	(void)uv_run(&r->loop, UV_RUN_DEFAULT);
	cr_expect_eq(uv_loop_close(&r->loop), 0, "no handle is left");
	msd_wire_finish(&r->wire);
	if (r->peer >= 0)
		close(r->peer);
}

/* A whole `ping` frame with @payload bytes after it. */
static size_t ping(uint8_t *out, uint64_t id, size_t payload)
{
	struct msd_out *o = msd_out_new();

	msd_body_begin_request(&o->body, id, "ping", false);
	msd_pack_array(&o->body, 0);
	msd_frame_write((struct msd_frame){(uint32_t)(o->body.n - 16), payload},
			o->body.p);
	size_t n = o->body.n;
	memcpy(out, o->body.p, n);
	memset(out + n, 0xab, payload);
	msd_out_destroy(o);
	return n + payload;
}

Test(conn, reads_frames_that_come_byte_by_byte)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	r.answer = MSD_PLACE_HERE;
	size_t n = ping(bytes, 7, 100);
	for (size_t i = 0; i < n; i++) {
		cr_assert_eq(write(r.peer, bytes + i, 1), 1);
		(void)uv_run(&r.loop, UV_RUN_NOWAIT);
	}
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(r.last_id, 7);
	cr_expect_eq(r.place[99], 0xab);
	rig_close(&r);
}

Test(conn, reads_many_frames_of_one_write)
{
	struct rig r;
	static uint8_t bytes[100 * 64];
	size_t n = 0;

	rig_open(&r, false);
	r.answer = MSD_PLACE_HERE;
	for (uint64_t id = 1; id <= 100; id++)
		n += ping(bytes + n, id, id % 3);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 100);
	rig_close(&r);
}

Test(conn, skips_a_payload_that_nobody_wants)
{
	struct rig r;
	uint8_t bytes[4096];

	rig_open(&r, false);
	r.answer = MSD_PLACE_SKIP;
	size_t n = ping(bytes, 1, 1000);
	n += ping(bytes + n, 2, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 2);
	cr_expect_eq(r.last_id, 2);
	rig_close(&r);
}

Test(conn, waits_for_a_place_and_goes_on)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	r.answer = MSD_PLACE_LATER;
	size_t n = ping(bytes, 1, 50);
	n += ping(bytes + n, 2, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 0);
	msd_conn_place(&r.conn, r.place);
	turn(&r);
	cr_expect_eq(r.n_frames, 2);
	cr_expect_eq(r.place[49], 0xab);
	rig_close(&r);
}

Test(conn, paused_keeps_what_was_read)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	msd_conn_pause(&r.conn, true);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 0);
	msd_conn_pause(&r.conn, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	rig_close(&r);
}

Test(conn, closes_on_a_wrong_magic_a_big_body_and_a_big_payload)
{
	static const struct {
		size_t at;
		uint8_t value;
		msd_err err;
	} harm[] = {{0, 'G', MSD_PROTOCOL},
		    {3, 9, MSD_PROTOCOL},
		    {6, 0xff, MSD_TOO_LARGE},
		    {12, 0xff, MSD_TOO_LARGE},
		    {16, 0xc1, MSD_PROTOCOL}};

	for (unsigned i = 0; i < sizeof(harm) / sizeof(harm[0]); i++) {
		struct rig r;
		uint8_t bytes[512];
		rig_open(&r, false);
		size_t n = ping(bytes, 1, 0);
		bytes[harm[i].at] = harm[i].value;
		cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
		turn(&r);
		cr_expect_eq(r.n_closed, 1, "harm %u", i);
		cr_expect_eq(r.closed_with, harm[i].err, "harm %u: %s", i, r.why);
		cr_expect_eq(r.n_frames, 0);
		rig_close(&r);
	}
}

Test(conn, says_why_it_ends_a_connection)
{
	struct rig r;
	uint8_t bytes[512];
	char got[512] = {0};

	rig_open(&r, false);
	memset(bytes, 'G',
	       sizeof(bytes)); /* more than the header: some is never read */
	cr_assert_eq(write(r.peer, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	turn(&r);
	cr_assert_gt(read(r.peer, got, sizeof(got)), MSD_FRAME_HEADER_BYTES);
	cr_expect_not_null(memmem(got, sizeof(got), "session.close", 13));
	cr_expect_not_null(memmem(got, sizeof(got), "not with ed 6d 64", 17));
	cr_expect_eq(read(r.peer, got, sizeof(got)), 0, "then the end, not a reset");
	rig_close(&r);
}

Test(conn, tells_a_clean_end_from_one_inside_a_frame)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	close(r.peer);
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_OK);
	rig_close(&r);
	rig_open(&r, false);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n - 1), (ssize_t)n - 1);
	turn(&r);
	close(r.peer);
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.closed_with, MSD_IO);
	rig_close(&r);
}

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

Test(conn, an_error_behind_the_last_request_ends_it)
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

Test(conn, writes_pieces_padded_to_the_alignment)
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

Test(conn, a_reader_that_is_too_slow_loses_its_connection)
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

static void send_with_fd(int to, const void *bytes, size_t n, int fd)
{
	struct iovec iov = {(void *)(uintptr_t)bytes, n};
	union {
		char room[CMSG_SPACE(sizeof(int))];
		struct cmsghdr align;
	} control = {{0}};
	struct msghdr m = {.msg_iov = &iov,
			   .msg_iovlen = 1,
			   .msg_control = control.room,
			   .msg_controllen = sizeof(control.room)};
	struct cmsghdr *h = CMSG_FIRSTHDR(&m);

	h->cmsg_level = SOL_SOCKET;
	h->cmsg_type = SCM_RIGHTS;
	h->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(h), &fd, sizeof(fd));
	cr_assert_eq(sendmsg(to, &m, 0), (ssize_t)n);
}

static unsigned open_descriptors(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) != -1;
	return n;
}

Test(conn, closes_descriptors_that_were_not_expected)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	size_t n = ping(bytes, 1, 0);
	unsigned before = open_descriptors();
	send_with_fd(r.peer, bytes, n, 0);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(open_descriptors(), before);
	rig_close(&r);
}

Test(conn, hands_over_a_descriptor_with_its_frame)
{
	struct rig r;
	uint8_t bytes[512];
	int pipe_ends[2];
	char byte = 0;

	rig_open(&r, true);
	cr_assert_eq(pipe(pipe_ends), 0);
	size_t n = ping(bytes, 1, 0);
	send_with_fd(r.peer, bytes, n, pipe_ends[1]);
	turn(&r);
	cr_assert_geq(r.took_fd, 0);
	cr_assert_eq(write(r.took_fd, "x", 1), 1);
	cr_assert_eq(read(pipe_ends[0], &byte, 1), 1);
	cr_expect_eq(byte, 'x');
	close(r.took_fd);
	close(pipe_ends[0]);
	close(pipe_ends[1]);
	rig_close(&r);
}
