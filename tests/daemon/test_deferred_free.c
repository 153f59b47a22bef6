#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/daemon/conn_rig.h"

#define FRAME_NS UINT64_C(400000)
#define PER_TURN 3u /* of these, in a millisecond */

static unsigned n_dropped, n_sent, n_ends;
static uint64_t end_ns;

static void on_done(void *ctx, bool sent)
{
	(void)ctx;
	pass_time(FRAME_NS);
	if (sent) {
		n_sent++;
	} else {
		n_dropped++;
	}
}

/* Frames of which each takes FRAME_NS to be freed, by the rig's clock. */
static void queue_frames(struct msd_conn *c, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		struct msd_out *o = msd_out_new();

		o->on_done = on_done;
		msd_conn_send(c, o);
	}
}

static void turn_once(struct rig *r)
{
	(void)uv_run(&r->loop, UV_RUN_NOWAIT);
}

/* The handles of closed connections are closed; then their tasks begin. */
static void close_handles(struct rig *r)
{
	turn_once(r);
	cr_expect_eq(n_dropped, 0);
	cr_expect_eq(n_ends, 0);
}

static void open_rig(struct rig *r)
{
	n_dropped = n_sent = n_ends = 0;
	rig_open(r, false);
}

Test(ending, of_a_connection_goes_so_far_a_turn_and_then_its_owner_is_told)
{
	struct rig r;

	open_rig(&r);
	queue_frames(&r.conn, 2 * PER_TURN + 1);
	msd_conn_close(&r.conn, MSD_OK, "test over");
	close_handles(&r);
	for (unsigned turns = 1; turns <= 2; turns++) {
		turn_once(&r);
		cr_expect_eq(n_dropped, turns * PER_TURN);
		cr_expect_eq(r.n_closed, 0);
	}
	turn_once(&r);
	cr_expect_eq(n_dropped, 2 * PER_TURN + 1);
	cr_expect_eq(r.n_closed, 1);
	cr_expect_eq(n_sent, 0);
	rig_close(&r);
}

Test(ending, goes_on_though_nothing_else_keeps_the_loop_awake)
{
	struct rig r;

	open_rig(&r);
	queue_frames(&r.conn, 4 * PER_TURN);
	msd_conn_close(&r.conn, MSD_OK, "test over");
	(void)uv_run(&r.loop, UV_RUN_DEFAULT);
	cr_expect_eq(n_dropped, 4 * PER_TURN);
	cr_expect_eq(r.n_closed, 1);
	rig_close(&r);
}

static void count_end(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c, (void)err, (void)why;
	pass_time(end_ns);
	n_ends++;
}

/* Some others on the loop of @r. */
struct others {
	struct msd_conn conns[8];
	int peers[8];
};

static void others_open(struct others *o, struct rig *r)
{
	static const struct msd_conn_ops ops = {.on_closed = count_end};
	const struct msd_conn_limits limits = {.max_body_bytes = 4096,
					       .max_queued_bytes = 1u << 20};

	for (unsigned i = 0; i < 8; i++) {
		int ends[2];

		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		o->peers[i] = ends[1];
		cr_assert_eq(msd_conn_open(&o->conns[i], &r->wire,
					   msd_transport_of_socket(ends[0], true), &ops,
					   &limits, NULL, NULL),
			     MSD_OK);
	}
}

static void others_close(struct others *o)
{
	for (unsigned i = 0; i < 8; i++) {
		msd_conn_close(&o->conns[i], MSD_OK, "test over");
		close(o->peers[i]);
	}
}

Test(ending, many_that_end_together_share_a_part_of_a_turn)
{
	struct rig r;
	struct others o;

	open_rig(&r);
	others_open(&o, &r);
	end_ns = FRAME_NS;
	others_close(&o);
	close_handles(&r);
	turn_once(&r);
	cr_expect_eq(n_ends, PER_TURN);
	turn_once(&r);
	cr_expect_eq(n_ends, 2 * PER_TURN);
	turn_once(&r);
	cr_expect_eq(n_ends, 8);
	rig_close(&r);
}

Test(ending, nobody_is_left_when_the_loop_ends)
{
	struct rig r;
	struct others o;

	open_rig(&r);
	others_open(&o, &r);
	queue_frames(&o.conns[0], 2 * PER_TURN);
	end_ns = FRAME_NS;
	others_close(&o);
	close_handles(&r);
	turn_once(&r);
	rig_close(&r);
	cr_expect_eq(n_dropped, 2 * PER_TURN);
	cr_expect_eq(n_ends, 8);
}

Test(ending, who_is_heard_out_is_written_nothing_and_keeps_what_it_has_until_then)
{
	struct rig r;
	uint8_t byte;

	open_rig(&r);
	queue_frames(&r.conn, 2);
	msd_conn_hear_out(&r.conn, MSD_IO, "gone");
	cr_expect_eq(r.conn.queued_bytes, 0);
	cr_expect_eq(n_dropped, 0);
	turn(&r);
	cr_expect_eq(n_dropped, 2);
	cr_expect_eq(r.n_closed, 1);
	cr_expect_eq(read(r.peer, &byte, 1), 0, "none of it was written");
	rig_close(&r);
}
