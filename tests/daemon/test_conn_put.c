#include <criterion/criterion.h>
#include <string.h>
#include <unistd.h>

#include "daemon/loop/account.h"
#include "tests/daemon/conn_rig.h"

struct told {
	struct msd_written written;
	unsigned n_sent, n_lost, n_times;
	uint64_t ns; /* of all */
};

static void hear(struct msd_written *w, uint64_t ns, uint32_t n, bool sent)
{
	struct told *t = MSD_CONTAINER_OF(w, struct told, written);

	*(sent ? &t->n_sent : &t->n_lost) += n;
	t->n_times++;
	t->ns += n * ns;
}

static void put_byte(struct msd_conn *c, size_t n, uint8_t byte, struct msd_written *w)
{
	uint8_t *at = msd_conn_put(c, n, w);

	cr_assert_not_null(at);
	memset(at, byte, n);
}

/* Read frames with @n bytes of their number each, from @first to @last. */
static void expect_frames(int peer, size_t n, uint8_t first, uint8_t last)
{
	uint8_t bytes[16 + 64], want[64];
	struct msd_frame f;

	for (unsigned i = first; i <= last; i++) {
		cr_assert_eq(read(peer, bytes, 16 + n), (ssize_t)(16 + n), "%u", i);
		cr_assert_eq(msd_frame_read(bytes, 4096, 0, &f, NULL), MSD_OK);
		memset(want, (int)i, n);
		cr_expect_eq(f.body_bytes, n);
		cr_expect_arr_eq(bytes + 16, want, n, "%u", i);
	}
}

Test(conn_put, short_frames_put_together_are_read_apart)
{
	struct rig r;
	struct told t = {.written.tell = hear};

	rig_open(&r, false);
	for (unsigned i = 1; i <= 200; i++) /* more than one piece of memory has */
		put_byte(&r.conn, 40, (uint8_t)i, &t.written);
	cr_expect_eq(r.conn.queued_bytes, 200 * 56);
	turn(&r);
	expect_frames(r.peer, 40, 1, 200);
	cr_expect_eq(r.conn.queued_bytes, 0);
	cr_expect_eq(t.n_sent, 200);
	cr_expect_lt(t.n_times, 10, "they were queued together");
	rig_close(&r);
}

Test(conn_put, frames_put_around_another_stay_in_order)
{
	struct rig r;
	struct msd_out *o = msd_out_new();
	uint8_t body[40];

	rig_open(&r, false);
	memset(body, 2, sizeof(body));
	put_byte(&r.conn, 40, 1, NULL);
	msd_buf_put(&o->body, body, sizeof(body));
	msd_conn_send(&r.conn, o);
	put_byte(&r.conn, 40, 3, NULL);
	turn(&r);
	expect_frames(r.peer, 40, 1, 3);
	rig_close(&r);
}

Test(conn_put, tells_the_sum_of_the_times_of_frames_put_together)
{
	struct rig r;
	struct told t = {.written.tell = hear};

	rig_open(&r, false);
	for (unsigned i = 1; i <= 4; i++) {
		put_byte(&r.conn, 40, (uint8_t)i, &t.written);
		pass_time(100);
		(void)msd_wire_look_ns(&r.wire);
	}
	msd_conn_flush(&r.conn);
	cr_expect_eq(t.n_sent, 4);
	cr_expect_eq(t.ns, 400 + 300 + 200 + 100);
	rig_close(&r);
}

Test(conn_put, what_was_put_and_not_written_is_told_and_given_back)
{
	struct rig r;
	struct told t = {.written.tell = hear};
	struct msd_account a;

	rig_open(&r, false);
	msd_account_open(&a, NULL, 1 << 20);
	r.conn.limits.account = &a;
	for (unsigned i = 1; i <= 100; i++)
		put_byte(&r.conn, 40, (uint8_t)i, &t.written);
	cr_expect_geq(a.used_bytes, 100 * 56);
	msd_conn_close(&r.conn, MSD_IO, "test");
	turn(&r);
	cr_expect_eq(t.n_lost, 100);
	cr_expect_eq(a.used_bytes, 0);
	cr_expect_null(msd_conn_put(&r.conn, 40, NULL), "it is closed");
	rig_close(&r);
}

Test(conn_put, long_frames_find_no_room_among_short_ones)
{
	struct rig r;

	rig_open(&r, false);
	cr_expect_null(msd_conn_put(&r.conn, 4096, NULL));
	cr_expect_eq(r.conn.queued_bytes, 0);
	rig_close(&r);
}
