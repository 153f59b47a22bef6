#include <criterion/criterion.h>
#include <jansson.h>
#include <string.h>
#include <unistd.h>

#include "client/retry.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/client/peer.h"

#define MOST UINT32_MAX

/* The number @key of @map, or @otherwise. */
static uint32_t number(const json_t *map, const char *key, uint32_t otherwise)
{
	const json_t *v = json_object_get(map, key);

	return v != NULL ? (uint32_t)json_integer_value(v) : otherwise;
}

static enum msd_begun begun(const json_t *step)
{
	static const char *const names[] = {[MSD_NOT_BEGUN] = "not_begun",
					    [MSD_MAY_HAVE_RUN] = "may_have_run",
					    [MSD_IS_ANSWERED] = "answered"};
	const char *name = json_string_value(json_object_get(step, "how"));
	unsigned how = 0;

	while (strcmp(names[how], name) != 0)
		how++;
	return (enum msd_begun)how;
}

/* retry.json is also the test of the Python package (client/python/tests). */
Test(retry, steps_are_those_of_the_other_client)
{
	json_t *cases =
		json_load_file(MSD_SOURCE_DIR "/tests/client/retry.json", 0, NULL);
	const json_t *one, *step;
	size_t i, k;

	cr_assert_gt(json_array_size(cases), 0);
	json_array_foreach(cases, i, one)
	{
		modser_retry r = {
			.for_ms = number(one, "for_ms", 0),
			.daemons = number(one, "daemons", 0),
			.idempotent = json_is_true(json_object_get(one, "idempotent"))};
		json_array_foreach(json_object_get(one, "steps"), k, step)
		{
			uint32_t wait_ms = MOST;
			(void)msd_retry_step(&r, begun(step),
					     number(step, "after_ms", 0),
					     number(step, "elapsed_ms", 0),
					     number(step, "random", 0), &wait_ms);
			const json_t *wait = json_object_get(step, "wait_ms");
			cr_expect_eq(
				wait_ms,
				json_is_null(wait) ? MOST : json_integer_value(wait),
				"%s, step %zu",
				json_string_value(json_object_get(one, "case")), k);
		}
	}
	json_decref(cases);
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
