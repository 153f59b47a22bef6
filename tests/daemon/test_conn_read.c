#include <criterion/criterion.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/account.h"
#include "tests/daemon/conn_rig.h"

Test(conn_read, reads_frames_that_come_byte_by_byte)
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

Test(conn_read, reads_many_frames_of_one_write)
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

Test(conn_read, skips_a_payload_that_nobody_wants)
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

Test(conn_read, waits_for_a_place_and_goes_on)
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

Test(conn_read, paused_keeps_what_was_read)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_frames, 0);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	rig_close(&r);
}

Test(conn_read, the_end_of_who_is_paused_is_noticed)
{
	struct rig r;
	uint8_t bytes[256];

	rig_open(&r, false);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	const size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(r.n_closed, 0);
	close(r.peer);
	r.peer = -1;
	turn(&r);
	cr_expect_eq(r.n_closed, 1);
	cr_expect_eq(r.closed_with, MSD_OK);
	cr_expect_eq(r.n_frames, 0, "what lay behind the pause is not read");
	rig_close(&r);
}

Test(conn_read, paused_for_two_reasons_waits_for_the_end_of_both)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, false);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	msd_conn_pause(&r.conn, MSD_PAUSE_MEMORY, true);
	size_t n = ping(bytes, 1, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 0);
	msd_conn_pause(&r.conn, MSD_PAUSE_MEMORY, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	rig_close(&r);
}

Test(conn_read, closes_descriptors_that_were_not_expected)
{
	struct rig r;
	uint8_t bytes[512];
	int held[2];

	rig_open(&r, false);
	cr_assert_eq(pipe(held), 0);
	size_t n = ping(bytes, 1, 0);
	send_with_fd(r.peer, bytes, n, held[1]);
	close(held[1]);
	turn(&r);
	cr_expect_eq(r.n_frames, 1);
	cr_expect_eq(read(held[0], bytes, 1), 0, "no writer is left");
	close(held[0]);
	rig_close(&r);
}

Test(conn_read, hands_over_a_descriptor_with_its_frame)
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

static void pause_for_memory(struct msd_conn *c)
{
	msd_conn_pause(c, MSD_PAUSE_MEMORY, true);
}

/* The first bytes of a body of @n. */
static void begin_body(struct rig *r, uint32_t n)
{
	uint8_t bytes[MSD_FRAME_HEADER_BYTES + 1] = {0};

	msd_frame_write((struct msd_frame){.body_bytes = n}, bytes);
	cr_assert_eq(write(r->peer, bytes, sizeof(bytes)), (ssize_t)sizeof(bytes));
	turn(r);
}

Test(conn_read, a_body_is_charged_until_it_is_over)
{
	struct rig r;
	struct msd_account account;

	rig_open(&r, false);
	msd_account_open(&account, NULL, UINT64_MAX);
	r.conn.limits.account = &account;
	r.conn.limits.max_body_bytes = 1u << 20;
	begin_body(&r, 500000);
	cr_expect_eq(account.used_bytes, 500000);
	rig_close(&r);
	cr_expect_eq(account.used_bytes, 0);
}

static void pause_at_frame(struct msd_conn *c, struct msd_in *in)
{
	(void)in;
	msd_conn_pause(c, MSD_PAUSE_REQUESTS, true);
}

Test(conn_read, what_was_read_ahead_is_charged_until_it_is_served)
{
	struct rig r;
	struct msd_account account;
	struct msd_conn_ops ops;
	uint8_t bytes[512];

	rig_open(&r, false);
	ops = *r.conn.ops;
	ops.on_frame = pause_at_frame;
	r.conn.ops = &ops;
	msd_account_open(&account, NULL, UINT64_MAX);
	r.conn.limits.account = &account;
	const size_t one = ping(bytes, 1, 0), n = one + ping(bytes + one, 2, 0);
	cr_assert_eq(write(r.peer, bytes, n), (ssize_t)n);
	turn(&r);
	cr_expect_eq(account.used_bytes, n - one);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(account.used_bytes, 0);
	rig_close(&r);
}

Test(conn_read, a_body_over_its_share_waits_while_others_are_short)
{
	struct rig r;
	struct msd_account all, mine, others;
	struct msd_conn_ops ops;

	rig_open(&r, false);
	ops = *r.conn.ops;
	ops.on_short = pause_for_memory;
	r.conn.ops = &ops;
	msd_account_open(&all, NULL, 1u << 20);
	msd_account_open(&mine, &all, UINT64_MAX);
	msd_account_open(&others, &all, UINT64_MAX);
	r.conn.limits.account = &mine;
	r.conn.limits.max_body_bytes = 1u << 20;
	msd_account_charge(&others, 2u << 20);
	begin_body(&r, 600000);
	cr_expect_eq(msd_account_kept(&mine), 0);
	cr_expect_neq(r.conn.paused & MSD_PAUSE_MEMORY, 0);
	msd_account_release(&others, 2u << 20);
	msd_conn_pause(&r.conn, MSD_PAUSE_MEMORY, false);
	turn(&r);
	cr_expect_eq(mine.used_bytes, 600000, "and is read when they are not");
	rig_close(&r);
}

static unsigned n_last;

static bool reads_on(struct msd_conn *c)
{
	(void)c;
	return true;
}

static void on_last(struct msd_conn *c)
{
	n_last++;
	msd_conn_pause(c, MSD_PAUSE_LEAVING, true);
}

Test(conn_read, what_was_written_before_it_was_shut_down_is_read_and_answered)
{
	struct rig r;
	struct msd_conn_ops ops;
	uint8_t bytes[256];
	size_t n = ping(bytes, 1, 0);

	rig_open(&r, false);
	ops = *r.conn.ops;
	ops.reads_on = reads_on;
	ops.on_last = on_last;
	r.conn.ops = &ops;
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	n += ping(bytes + n, 2, 0);
	cr_assert_eq(write(r.peer, bytes, n + 10), (ssize_t)n + 10);
	cr_assert_eq(shutdown(r.conn.transport.fd, SHUT_RD), 0);
	turn(&r);
	cr_expect(n_last == 0 && r.n_closed == 0, "while it is not read");
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 2);
	cr_expect_eq(n_last, 1);
	struct msd_out *o = msd_out_new();
	msd_body_begin_response(&o->body, 1, false);
	msd_conn_send(&r.conn, o);
	msd_conn_flush(&r.conn); /* the loop has nothing to wait for */
	cr_expect_eq(r.n_closed, 0);
	cr_expect_gt(recv(r.peer, bytes, sizeof(bytes), MSG_DONTWAIT), 16);
	cr_expect_eq(send(r.peer, bytes, 1, MSG_NOSIGNAL), -1);
	rig_close(&r);
}
