#include <criterion/criterion.h>
#include <sys/socket.h>
#include <unistd.h>

#include "daemon/loop/account.h"
#include "proto/value.h"
#include "tests/daemon/conn_rig.h"

/* Let the loop turn once. */
static void turn_once(struct rig *r)
{
	(void)uv_run(&r->loop, UV_RUN_NOWAIT);
}

/* @n pings, written at once. */
static void send_pings(const struct rig *r, uint64_t n)
{
	static uint8_t bytes[300 * 64];
	size_t used = 0;

	for (uint64_t id = 1; id <= n; id++)
		used += ping(bytes + used, id, 0);
	cr_assert_eq(write(r->peer, bytes, used), (ssize_t)used);
}

Test(conn_turns, serves_so_many_frames_a_turn)
{
	struct rig r;

	rig_open(&r, false);
	send_pings(&r, 3 * MSD_CONN_TURN_FRAMES);
	for (unsigned turns = 1; turns <= 3; turns++) {
		turn_once(&r);
		cr_expect_eq(r.n_frames, turns * MSD_CONN_TURN_FRAMES);
	}
	rig_close(&r);
}

Test(conn_turns, a_slow_frame_ends_the_turn)
{
	struct rig r;

	rig_open(&r, false);
	r.frame_ns = MSD_CONN_TURN_US * 1000u;
	send_pings(&r, 3);
	for (unsigned turns = 1; turns <= 3; turns++) {
		turn_once(&r);
		cr_expect_eq(r.n_frames, turns);
	}
	rig_close(&r);
}

Test(conn_turns, a_turn_that_is_over_stays_so_when_it_is_paused_meanwhile)
{
	struct rig r;

	rig_open(&r, false);
	send_pings(&r, 100);
	turn_once(&r);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, true);
	turn(&r);
	cr_expect_eq(r.n_frames, MSD_CONN_TURN_FRAMES);
	msd_conn_pause(&r.conn, MSD_PAUSE_REQUESTS, false);
	turn(&r);
	cr_expect_eq(r.n_frames, 100);
	rig_close(&r);
}

#define OF_ONE_PEER 100u

/* How long a frame of the crowd's takes, by the rig's clock. */
static uint64_t crowd_frame_ns;

static void count_frame(struct msd_conn *c, struct msd_in *in)
{
	unsigned *n_frames = c->user;

	(void)in;
	pass_time(crowd_frame_ns);
	++*n_frames;
}

#define LONG_BYTES 65536u
#define N_LONG 4u

static uint8_t long_place[LONG_BYTES];

static enum msd_place have_place(struct msd_conn *c, struct msd_in *in)
{
	(void)c;
	in->payload = long_place;
	return MSD_PLACE_HERE;
}

static void is_closed(struct msd_conn *c, msd_err err, const char *why)
{
	(void)c;
	(void)err;
	(void)why;
}

/* One peer's connections, all of which have more to say than a turn takes. */
struct crowd {
	struct msd_conn conns[OF_ONE_PEER];
	struct msd_account accounts[OF_ONE_PEER];
	struct msd_account peer;
	unsigned n_frames[OF_ONE_PEER];
	int peers[OF_ONE_PEER];
};

/* @shares: of workers, on whose account nothing is. NULL: of one peer. */
static void crowd_open(struct crowd *c, struct rig *r, unsigned n_pings,
		       const struct msd_account *shares)
{
	static const struct msd_conn_ops ops = {
		.on_body = have_place, .on_frame = count_frame, .on_closed = is_closed};

	msd_account_open(&c->peer, NULL, UINT64_MAX);
	for (unsigned i = 0; i < OF_ONE_PEER; i++) {
		const struct msd_conn_limits limits = {
			.max_body_bytes = 4096,
			.max_payload_bytes = LONG_BYTES,
			.account = shares == NULL ? &c->accounts[i] : NULL,
			.shares = shares,
			.takes_turns = true};
		int ends[2];
		cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
		c->peers[i] = ends[1];
		msd_account_open(&c->accounts[i], &c->peer, UINT64_MAX);
		cr_assert_eq(msd_conn_open(&c->conns[i], &r->wire,
					   msd_transport_of_socket(ends[0], true), &ops,
					   &limits, &c->n_frames[i], NULL),
			     MSD_OK);
		send_pings(&(struct rig){.peer = ends[1]}, n_pings);
	}
}

static void crowd_close(struct crowd *c, struct rig *r)
{
	for (unsigned i = 0; i < OF_ONE_PEER; i++) {
		msd_conn_close(&c->conns[i], MSD_OK, "test over");
		close(c->peers[i]);
	}
	turn(r);
	for (unsigned i = 0; i < OF_ONE_PEER; i++)
		msd_account_close(&c->accounts[i]);
	msd_account_close(&c->peer);
}

/* No more than @share had a turn of @a_turn frames in each of @turns, and nobody two of
 * them before another one. */
static void expect_shared(const struct crowd *c, unsigned turns, unsigned share,
			  unsigned a_turn)
{
	unsigned n = 0, most = 0, least = UINT32_MAX;

	for (unsigned i = 0; i < OF_ONE_PEER; i++) {
		const unsigned had = c->n_frames[i] / a_turn;
		n += had;
		most = had > most ? had : most;
		least = had < least ? had : least;
	}
	cr_expect_leq(n, turns * share);
	cr_expect_leq(most - least, 1, "who waits comes first");
}

Test(conn_turns, one_peers_many_connections_share_it)
{
	static struct crowd c;
	struct rig r;

	rig_open(&r, false); /* another's */
	crowd_open(&c, &r, 3 * MSD_CONN_TURN_FRAMES, NULL);
	for (unsigned turns = 1; turns <= 6; turns++) {
		send_pings(&r, 1);
		turn_once(&r);
		expect_shared(&c, turns, MSD_CONN_TURN_SHARE, MSD_CONN_TURN_FRAMES);
		cr_expect_eq(r.n_frames, turns, "others wait for none of them");
	}
	crowd_close(&c, &r);
	rig_close(&r);
}

static unsigned frames_of(const struct crowd *c)
{
	unsigned n = 0;

	for (unsigned i = 0; i < OF_ONE_PEER; i++)
		n += c->n_frames[i];
	return n;
}

/* One frame each, so that none of them has a turn that is measured for itself. */
static void expect_few_slow_frames(struct rig *r, const struct msd_account *shares)
{
	static struct crowd c;
	const unsigned most = 4; /* two are there before anything is measured */
	unsigned turns = 0;

	crowd_open(&c, r, 1, shares);
	crowd_frame_ns = MSD_CONN_SHARE_US * 1000u / 2;
	for (unsigned before = 0; before < OF_ONE_PEER; turns++) {
		send_pings(r, 1);
		turn_once(r);
		cr_assert_lt(turns, OF_ONE_PEER, "who waits comes first");
		cr_expect_leq(frames_of(&c) - before, most);
		cr_expect_eq(r->n_frames, turns + 1, "others wait for none of them");
		before = frames_of(&c);
	}
	crowd_close(&c, r);
}

Test(conn_turns, one_peers_slow_frames_are_few_in_a_turn)
{
	struct rig r;

	rig_open(&r, false); /* another's */
	expect_few_slow_frames(&r, NULL);
	rig_close(&r);
}

Test(conn_turns, all_workers_slow_frames_are_few_in_a_turn)
{
	struct rig r;

	rig_open(&r, false); /* a client's */
	expect_few_slow_frames(&r, &r.wire.worker);
	cr_expect_eq(r.wire.workers.used_bytes, 0, "nothing is charged to them");
	rig_close(&r);
}

/* Of the first of them, too, which is not measured otherwise. */
Test(conn_turns, a_long_payload_is_a_part_of_its_peers_turn)
{
	static struct crowd c;
	static uint8_t frame[LONG_BYTES + 256];
	const size_t n = ping(frame, 1, LONG_BYTES);
	struct rig r;

	rig_open(&r, false);
	crowd_frame_ns = MSD_CONN_SHARE_US * 1000u;
	crowd_open(&c, &r, 0, NULL);
	for (unsigned i = 0; i < N_LONG; i++) {
		cr_assert_eq(write(c.peers[i], frame, n - LONG_BYTES),
			     (ssize_t)(n - LONG_BYTES));
	}
	turn(&r);
	for (unsigned i = 0; i < N_LONG; i++) {
		cr_assert_eq(write(c.peers[i], frame + n - LONG_BYTES, LONG_BYTES),
			     (ssize_t)LONG_BYTES);
	}
	for (unsigned turns = 1; turns <= N_LONG; turns++) {
		turn_once(&r);
		cr_expect_eq(frames_of(&c), turns);
	}
	crowd_close(&c, &r);
	rig_close(&r);
}

static void answer(struct crowd *c, unsigned i)
{
	struct msd_out *o = msd_out_new();

	cr_assert_not_null(o);
	msd_body_begin_notification(&o->body, "test");
	msd_pack_array(&o->body, 0);
	cr_assert_eq(msd_out_add_piece(o, long_place, LONG_BYTES), 0);
	msd_conn_send(&c->conns[i], o);
}

/* Who has read an answer asks for the next one at once. */
static void take_answers(struct crowd *c)
{
	static uint8_t bytes[2 * LONG_BYTES];

	for (unsigned i = 0; i < OF_ONE_PEER; i++) {
		if (recv(c->peers[i], bytes, sizeof(bytes), MSG_DONTWAIT) <= 0)
			continue;
		c->n_frames[i]++;
		answer(c, i);
	}
}

Test(conn_turns, what_is_written_to_one_peers_many_connections_is_shared)
{
	const unsigned share = MSD_CONN_SHARE_BYTES / LONG_BYTES;
	static struct crowd c;
	struct rig r;

	rig_open(&r, false); /* another's */
	crowd_open(&c, &r, 0, NULL);
	for (unsigned i = 0; i < OF_ONE_PEER; i++)
		answer(&c, i);
	for (unsigned turns = 1; turns <= 6; turns++) {
		turn_once(&r);
		take_answers(&c);
		expect_shared(&c, turns, share, 1);
		cr_expect_geq(frames_of(&c), turns * (share - 1), "the loop is awake");
	}
	crowd_close(&c, &r);
	rig_close(&r);
}

Test(conn_turns, keeps_a_descriptor_for_a_frame_of_a_later_turn)
{
	struct rig r;
	uint8_t bytes[512];

	rig_open(&r, true);
	r.fd_id = 1000;
	send_pings(&r, MSD_CONN_TURN_FRAMES);
	send_with_fd(r.peer, bytes, ping(bytes, r.fd_id, 0), 0);
	turn_once(&r);
	cr_expect_eq(r.n_frames, MSD_CONN_TURN_FRAMES);
	cr_expect_eq(r.took_fd, -1);
	turn_once(&r);
	cr_assert_geq(r.took_fd, 0);
	close(r.took_fd);
	rig_close(&r);
}

Test(conn_turns, hears_out_who_is_gone_in_turns)
{
	struct rig r;

	rig_open(&r, false);
	send_pings(&r, 3 * MSD_CONN_TURN_FRAMES);
	close(r.peer);
	r.peer = -1;
	msd_conn_hear_out(&r.conn, MSD_IO, "gone");
	turn_once(&r);
	cr_expect_eq(r.n_frames, MSD_CONN_TURN_FRAMES);
	turn(&r);
	cr_expect_eq(r.n_frames, 3 * MSD_CONN_TURN_FRAMES);
	cr_expect_eq(r.n_closed, 1);
	rig_close(&r);
}

Test(conn_turns, who_never_stops_talking_is_not_heard_out)
{
	struct rig r;
	unsigned left = 100000;

	rig_open(&r, false);
	msd_conn_hear_out(&r.conn, MSD_OK, "gone");
	for (; left > 0 && !r.conn.is_closing; left--) {
		send_pings(&r, 60);
		turn_once(&r);
	}
	cr_expect(r.conn.is_closing);
	rig_close(&r);
}

Test(conn_turns, lets_the_loop_sleep_when_who_waited_is_gone)
{
	struct rig r;

	rig_open(&r, false);
	send_pings(&r, 3 * MSD_CONN_TURN_FRAMES);
	turn_once(&r);
	turn_once(&r);
	cr_assert_eq(uv_is_active((uv_handle_t *)&r.wire.awake), 1);
	msd_conn_close(&r.conn, MSD_OK, "over");
	turn(&r);
	cr_expect_eq(uv_is_active((uv_handle_t *)&r.wire.awake), 0);
	rig_close(&r);
}
