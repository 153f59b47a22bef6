#include <criterion/criterion.h>
#include <string.h>

#include "daemon/stream/codec.h"
#include "daemon/stream/conn.h"
#include "daemon/stream/conn_timeout.h"

/* A connection opened at 0 of which nothing is known but its counts. */
static struct msd_conn conn;
static struct msd_conn_timeout watch;
static const struct msd_limits limits = {
	.read_stall_ms = 1000, .write_stall_ms = 2000, .first_frame_ms = 500};

static void begin(void)
{
	memset(&conn, 0, sizeof(conn));
	conn.codec = &msd_frame_codec;
	msd_conn_timeout_init(&watch, 0);
}

static struct msd_conn_timeout_view seen(uint64_t now_ms)
{
	return (struct msd_conn_timeout_view){.frames = conn.n_frames,
					      .bytes_in = conn.bytes_in,
					      .queued_bytes = conn.queued_bytes,
					      .last_progress_ms = conn.last_progress_ms,
					      .is_owed = msd_conn_is_owed(&conn),
					      .now_ms = now_ms};
}

static const char *look_with(uint64_t now_ms, bool is_pressed,
			     const struct msd_limits *l)
{
	struct msd_conn_timeout_view view = seen(now_ms);

	view.is_pressed = is_pressed;
	return msd_conn_timeout_look(&watch, &view, l);
}

static const char *look_after(uint64_t now_ms, uint64_t away_ms)
{
	struct msd_conn_timeout_view view = seen(now_ms);

	view.away_ms = away_ms;
	return msd_conn_timeout_look(&watch, &view, &limits);
}

static const char *look(uint64_t now_ms)
{
	return look_with(now_ms, false, &limits);
}

/* Within a frame, of which @n bytes have come, and others before it. */
static void in_frame(uint64_t n)
{
	conn.n_frames = 1;
	conn.framing.have = 1;
	conn.bytes_in = n;
}

Test(watch, silence_after_a_frame_is_free, .init = begin)
{
	conn.n_frames = 1;
	cr_expect_null(look(10));
	cr_expect_null(look(1000000));
}

Test(watch, while_the_daemon_was_away_nobody_was_late, .init = begin)
{
	cr_expect_null(look(400));
	cr_expect_null(look_after(60400, 60000), "a first frame");
	cr_expect_null(look(60500));
	cr_expect_not_null(look(60501), "its own time goes on");

	begin();
	in_frame(100);
	cr_expect_null(look(10));
	cr_expect_null(look_after(61010, 60000), "a frame");
	cr_expect_not_null(look(61011));
}

Test(watch, replies_that_could_not_be_written_meanwhile_are_no_stall, .init = begin)
{
	conn.n_frames = 1;
	conn.queued_bytes = 5;
	conn.last_progress_ms = 1000;
	cr_expect_null(look(2000));
	cr_expect_null(look_after(63000, 60000));
	cr_expect_not_null(look(63001));
	conn.last_progress_ms = 63001;
	cr_expect_null(look(65001));
	cr_expect_not_null(look(65002), "what was forgiven was for the time before");
}

Test(watch, without_a_first_frame_it_ends, .init = begin)
{
	cr_expect_null(look(500));
	cr_assert_not_null(look(501));
	cr_expect_not_null(strstr(look(501), "--first-frame"));
}

Test(watch, a_frame_that_stands_still_ends_it, .init = begin)
{
	in_frame(100);
	cr_expect_null(look(10));
	cr_expect_null(look(1010));
	cr_assert_not_null(look(1011));
	cr_expect_not_null(strstr(look(1011), "--read-stall"));
}

Test(watch, a_trickle_is_no_progress, .init = begin)
{
	const char *why = NULL;

	for (uint64_t ms = 0; ms < 3000 && why == NULL; ms += 10) {
		in_frame(100 + ms);
		why = look(ms);
	}
	cr_expect_not_null(why);
}

Test(watch, enough_bytes_are_progress, .init = begin)
{
	for (uint64_t ms = 0; ms < 100000; ms += 900) {
		in_frame(ms / 900 * MSD_CONN_TIMEOUT_PROGRESS_BYTES);
		cr_assert_null(look(ms));
	}
}

Test(watch, small_frames_one_after_the_other_are_progress, .init = begin)
{
	for (uint64_t ms = 0; ms < 100000; ms += 900) {
		in_frame(ms);
		conn.n_frames = ms + 1;
		cr_assert_null(look(ms));
	}
}

Test(watch, what_we_do_not_read_is_not_held_against_it, .init = begin)
{
	in_frame(100);
	conn.paused = MSD_PAUSE_REQUESTS;
	cr_expect_null(look(10));
	cr_expect_null(look(100000));
	conn.paused = 0;
	cr_expect_null(look(100900));
}

Test(watch, under_pressure_a_frame_must_end, .init = begin)
{
	const char *why = NULL;

	for (uint64_t ms = 0; ms < 3000 && why == NULL; ms += 100) {
		in_frame(ms * MSD_CONN_TIMEOUT_PROGRESS_BYTES);
		why = look_with(ms, true, &limits);
	}
	cr_expect_not_null(why);
}

Test(watch, replies_that_are_not_read_end_it, .init = begin)
{
	conn.n_frames = 1;
	conn.queued_bytes = 1;
	cr_expect_null(look(2000));
	cr_expect_not_null(look(2001));
}

Test(watch, silence_ends_it_where_that_is_asked_for, .init = begin)
{
	struct msd_limits l = limits;

	l.idle_ms = 3000;
	conn.n_frames = 1;
	conn.bytes_in = 100;
	cr_expect_null(look_with(10, false, &l));
	cr_expect_null(look_with(3010, false, &l));
	cr_expect_not_null(look_with(3011, false, &l));
	conn.bytes_in++;
	cr_expect_null(look_with(3012, false, &l));
}

Test(watch, looks_often_enough_for_the_shortest_limit)
{
	cr_expect_eq(msd_conn_timeout_every_ms(&limits), 125);
	cr_expect_eq(msd_conn_timeout_every_ms(&(struct msd_limits){.idle_ms = 1}), 10);
}

Test(watch, who_has_used_a_channel_of_its_own_was_not_silent_then, .init = begin)
{
	struct msd_limits l = limits;
	struct msd_conn_timeout_view view;

	l.idle_ms = 1000;
	conn.n_frames = 1;
	view = seen(900);
	view.used_ms = 700; /* between two looks */
	cr_expect_null(msd_conn_timeout_look(&watch, &view, &l));
	view.now_ms = 1600;
	cr_expect_null(msd_conn_timeout_look(&watch, &view, &l));
	view.now_ms = 1800;
	cr_expect_not_null(msd_conn_timeout_look(&watch, &view, &l));
}
