#include <criterion/criterion.h>
#include <unistd.h>

#include "client/retry.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/client/peer.h"

#define MOST UINT32_MAX

/* The wait after one more end as @how; UINT32_MAX: it is not sent again. */
static uint32_t step(modser_retry *r, enum msd_begun how, uint32_t after_ms,
		     uint32_t elapsed_ms, uint32_t random)
{
	uint32_t wait_ms = 0;

	return msd_retry_step(r, how, after_ms, elapsed_ms, random, &wait_ms) ? wait_ms
									      : MOST;
}

Test(retry, is_not_done_unless_asked_for)
{
	modser_retry r = {.idempotent = true};

	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 0, 0, 0), MOST);
}

Test(retry, sends_what_may_have_run_only_when_it_may_run_twice)
{
	modser_retry once = {.for_ms = 1000},
		     twice = {.for_ms = 1000, .idempotent = true};

	cr_expect_eq(step(&once, MSD_MAY_HAVE_RUN, 0, 0, 0), MOST);
	cr_expect_eq(step(&twice, MSD_MAY_HAVE_RUN, 0, 0, 0), 0);
	cr_expect_eq(step(&twice, MSD_IS_ANSWERED, 0, 0, 0), MOST);
}

Test(retry, waits_up_to_a_bound_that_doubles_and_ends)
{
	static const uint32_t bounds[] = {50,   100,  200,  400, 800,
					  1600, 3200, 5000, 5000};
	modser_retry r = {.for_ms = MOST};

	for (size_t i = 0; i < sizeof(bounds) / sizeof(*bounds); i++) {
		modser_retry same = r;
		cr_expect_eq(step(&same, MSD_NOT_BEGUN, 0, 0, bounds[i] + 1), 0);
		cr_expect_eq(step(&r, MSD_NOT_BEGUN, 0, 0, bounds[i]), bounds[i]);
	}
}

Test(retry, waits_for_what_the_daemon_says_and_some_more)
{
	modser_retry r = {.for_ms = 1000};

	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 300, 0, 7), 307);
}

Test(retry, asks_the_next_daemon_at_once_and_all_again_when_the_first_is_free)
{
	modser_retry r = {.for_ms = 10000, .daemons = 3};

	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 500, 0, 9), 0);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 200, 0, 9), 0);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 900, 0, 9), 209);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 700, 0, 9), 0);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 800, 0, 9), 0);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 900, 0, 9), 709);
}

Test(retry, ends_when_the_wait_is_longer_than_what_is_left)
{
	modser_retry r = {.for_ms = 1000};

	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 400, 599, 0), 400);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 400, 600, 0), MOST);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, 0, 1000, 0), MOST);
	cr_expect_eq(step(&r, MSD_NOT_BEGUN, MOST, 0, MOST), MOST);
}

/* The result of a call that the daemon answers with @code. */
static modser_result *refused(struct peer *p, msd_err code, uint64_t after_ms)
{
	struct msd_buf body = {0}, frame = {0};
	modser_result *r;

	msd_body_begin_response(&body, 1, false);
	const struct msd_diag d = {.code = code,
				   .text = (char[]){"full"},
				   .len = 4,
				   .retry_after_ms = after_ms};
	msd_pack_diag(&body, &d);
	msd_pack_nil(&body);
	peer_frame(&frame, &body, NULL, 0);
	peer_write(p, frame.p, frame.n);
	cr_assert_eq(modser_call(p->client, "m:f", NULL, 0, NULL, &r),
		     (modser_err)code);
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
	return r;
}

Test(retry, believes_the_daemon_that_a_call_was_not_begun_and_when_to_come)
{
	modser_retry r = {.for_ms = MOST};
	struct peer p = peer_open();
	modser_result *busy = refused(&p, MSD_BUSY, 123456);
	uint32_t wait_ms = 0;

	cr_expect(modser_retry_next(&r, busy, 0, &wait_ms));
	cr_expect(wait_ms >= 123456 && wait_ms <= 123456 + 50, "%u", wait_ms);
	modser_result_free(busy);
	peer_close(&p);
}

Test(retry, a_refusal_that_says_no_time_sends_to_its_text)
{
	struct peer p = peer_open(), q = peer_open();
	modser_result *later = refused(&p, MSD_BUSY, 5),
		      *never = refused(&q, MSD_BUSY, 0);

	cr_expect_str_eq(modser_result_error(later)->hint, "try again later");
	cr_expect_str_eq(modser_result_error(never)->hint,
			 "follow the text; else try again later");
	modser_result_free(later);
	modser_result_free(never);
	peer_close(&p);
	peer_close(&q);
}

/* How a request ends that the daemon has an own error of the system for. */
Test(retry, sees_an_answer_in_an_error_of_the_daemons_system)
{
	struct peer p = peer_open();
	modser_result *io = refused(&p, MSD_IO, 0);

	cr_expect_eq(msd_retry_judge(io), MSD_IS_ANSWERED);
	modser_result_free(io);
	peer_close(&p);
}

Test(retry, does_not_know_what_became_of_a_call_whose_connection_is_lost)
{
	const modser_value target = modser_str("m:f");
	struct peer p = peer_open();
	modser_result *lost, *late;
	uint64_t id;

	cr_assert_eq(modser_start(p.client, "call", &target, 1, NULL, &id), MODSER_OK);
	cr_assert_eq(modser_process(p.client), MODSER_OK, "it is sent");
	cr_assert_eq(close(p.fd), 0);
	p.fd = -1;
	cr_assert_eq(modser_wait(p.client, id, &lost), MODSER_IO);
	cr_expect_eq(msd_retry_judge(lost), MSD_MAY_HAVE_RUN);
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &late), MODSER_IO);
	cr_expect_eq(msd_retry_judge(late), MSD_NOT_BEGUN, "nothing could be sent");
	modser_result_free(lost);
	modser_result_free(late);
	peer_close(&p);
}

Test(retry, takes_a_call_for_not_begun_of_which_no_byte_was_sent)
{
	struct peer p = peer_open();
	modser_result *unsent;

	cr_assert_eq(close(p.fd), 0);
	p.fd = -1;
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &unsent), MODSER_IO);
	cr_expect_eq(msd_retry_judge(unsent), MSD_NOT_BEGUN);
	modser_result_free(unsent);
	peer_close(&p);
}

Test(retry, takes_a_call_for_not_begun_when_its_daemon_ends)
{
	struct msd_buf body = {0}, frame = {0};
	struct peer p = peer_open();
	modser_result *ended, *late;

	msd_body_begin_notification(&body, "session.close");
	msd_pack_array(&body, 3);
	msd_pack_uint(&body, MSD_DRAINING);
	msd_pack_cstr(&body, "DRAINING");
	msd_pack_cstr(&body, "the daemon is shutting down");
	peer_frame(&frame, &body, NULL, 0);
	peer_write(&p, frame.p, frame.n);
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &ended),
		     MODSER_DRAINING);
	cr_expect_eq(msd_retry_judge(ended), MSD_NOT_BEGUN);
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &late),
		     MODSER_DRAINING);
	cr_expect_eq(msd_retry_judge(late), MSD_NOT_BEGUN);
	modser_result_free(ended);
	modser_result_free(late);
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
	peer_close(&p);
}

Test(retry, takes_a_call_for_not_begun_when_nobody_was_there)
{
	modser_client *client = NULL;
	modser_result *why = NULL;

	cr_assert_eq(modser_open("unix:/nowhere/at/all", 0, &client, &why), MODSER_IO);
	cr_expect_eq(msd_retry_judge(why), MSD_NOT_BEGUN);
	cr_expect_eq(msd_retry_judge(NULL), MSD_NOT_BEGUN);
	modser_result_free(why);
}
