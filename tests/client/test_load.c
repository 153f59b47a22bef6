#include <criterion/criterion.h>
#include <pthread.h>
#include <string.h>

#include "proto/value.h"
#include "tests/client/peer.h"
#include "tests/support/clock.h"

#define LOAD_DEADLINE_MS 120000u /* far above what a few frames need on any machine */

/* @ctx, a deadline of milliseconds, passes. */
static void pass_deadline(void *ctx, uint64_t sent_bytes, uint64_t total_bytes)
{
	const uint32_t *ms = ctx;

	cr_expect_eq(sent_bytes, total_bytes);
	clock_pass(*ms);
}

static void answer_upload(const struct peer *p, uint64_t id)
{
	struct msd_buf body = {0}, frame = {0};

	peer_begin(&body, id);
	msd_pack_handle(&body, MSD_EXT_UPLOAD, (struct msd_handle){1, 1});
	peer_frame(&frame, &body, NULL, 0);
	peer_write(p, frame.p, frame.n);
	msd_buf_finish(&frame);
	msd_buf_finish(&body);
}

/* Who answers a load that is given up: neither "commit" nor module.load is asked for.
 */
struct daemon {
	struct peer peer;
	uint64_t n_requests;
	bool is_late; /* the deadline passes before the upload has begun */
};

static void *answer_all(void *ctx)
{
	const struct daemon *d = ctx;

	for (uint64_t id = 1; id <= d->n_requests; id++) {
		struct msd_buf body = {0}, payload = {0};

		peer_read(&d->peer, &body, &payload);
		if (id > 1) {
			peer_answer(&d->peer, id, 0);
		} else {
			if (d->is_late)
				clock_pass(LOAD_DEADLINE_MS);
			answer_upload(&d->peer, id);
		}
		msd_buf_finish(&body);
		msd_buf_finish(&payload);
	}
	return NULL;
}

/* A load of one byte ends by its deadline, with @text. */
static void expect_given_up(struct daemon d, const modser_load_options *options,
			    const char *text)
{
	pthread_t thread;
	modser_result *r;

	d.peer = peer_open();
	cr_assert_eq(pthread_create(&thread, NULL, answer_all, &d), 0);
	cr_assert_eq(modser_load(d.peer.client, "m", "x", 1, options, &r),
		     MODSER_DEADLINE);
	cr_expect_not_null(strstr(modser_result_error(r)->message, text));
	cr_assert_eq(pthread_join(thread, NULL), 0);
	cr_expect_eq(modser_in_flight(d.peer.client), 0);
	modser_result_free(r);
	peer_close(&d.peer);
}

Test(load, a_load_whose_deadline_passed_before_its_upload_sends_nothing)
{
	const modser_load_options options = {.deadline_ms = LOAD_DEADLINE_MS};

	expect_given_up((struct daemon){.n_requests = 2, .is_late = true}, &options,
			"0 of 1 bytes");
}

/* Begin, the one piece, and what is given up. */
Test(load, the_deadline_of_a_load_holds_for_its_upload)
{
	uint32_t ms = LOAD_DEADLINE_MS;
	const modser_load_options options = {
		.deadline_ms = ms, .progress = pass_deadline, .ctx = &ms};

	expect_given_up((struct daemon){.n_requests = 3}, &options, "1 of 1 bytes");
}
