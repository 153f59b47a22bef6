#include <criterion/criterion.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/client.h"
#include "proto/body.h"
#include "proto/limits.h"
#include "proto/value.h"
#include "tests/client/peer.h"
#include "tests/support/fail_alloc.h"

static const modser_dtype float32 = {MSD_DT_FLOAT, 32, 1};

static uint64_t start(struct peer *p, const modser_options *options)
{
	uint64_t id = 0;

	cr_assert_eq(modser_start(p->client, "ping", NULL, 0, options, &id), MODSER_OK);
	return id;
}

Test(client, gives_each_request_its_own_answer_in_any_order)
{
	struct peer p = peer_open();
	uint64_t ids[3];

	for (int i = 0; i < 3; i++)
		ids[i] = start(&p, NULL);
	peer_answer(&p, ids[2], 30);
	peer_answer(&p, ids[0], 10);
	peer_answer(&p, ids[1], 20);
	for (int i = 0; i < 3; i++) {
		modser_result *r;

		cr_assert_eq(modser_wait(p.client, ids[i], &r), MODSER_OK);
		cr_assert_eq(modser_result_value(r)->as.i, 10 * (i + 1));
		cr_assert_eq(modser_result_id(r), ids[i]);
		modser_result_free(r);
	}
	cr_assert_eq(modser_in_flight(p.client), 0);
	peer_close(&p);
}

Test(client, sends_tensors_aligned_and_whole)
{
	struct peer p = peer_open();
	const float x[3] = {1, 2, 3};
	const int64_t n = 3;
	modser_value args[] = {modser_tensor_arg(float32, &n, 1, x),
			       modser_tensor_arg(float32, &n, 1, x),
			       modser_out_arg(float32, &n, 1, NULL)};
	struct msd_buf body = {0}, payload = {0};
	struct msd_body b;

	cr_assert_eq(modser_start(p.client, "call", args, 3, NULL, NULL), MODSER_OK);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	peer_read(&p, &body, &payload);
	cr_assert_eq(msd_body_read((struct msd_span){body.p, body.n}, NULL, &b, NULL),
		     MSD_OK);
	cr_expect_eq(b.n_tensors, 3);
	cr_expect(msd_span_is(b.method, "call"));
	cr_assert_eq(payload.n, MSD_TENSOR_ALIGN + sizeof(x));
	cr_expect_eq(memcmp(payload.p, x, sizeof(x)), 0);
	cr_expect_eq(memcmp(payload.p + MSD_TENSOR_ALIGN, x, sizeof(x)), 0);
	msd_buf_finish(&body);
	msd_buf_finish(&payload);
	peer_close(&p);
}

Test(client, receives_outputs_into_the_callers_memory)
{
	struct peer p = peer_open();
	const float answer[2] = {1.5f, -2};
	const int64_t n = 2;
	float y[2] = {0};
	modser_value out = modser_out_arg(float32, &n, 1, y);
	modser_result *r;

	peer_answer_floats(&p, 1, answer, 2);
	cr_assert_eq(modser_call(p.client, "m:f", &out, 1, NULL, &r), MODSER_OK);
	cr_expect_eq(memcmp(y, answer, sizeof(y)), 0);
	cr_expect_eq(
		modser_result_value(r)->as.tuple.item->as.tuple.item->as.tensor.data,
		(void *)y);
	modser_result_free(r);
	peer_close(&p);
}

Test(client, gives_outputs_without_memory_an_aligned_block)
{
	struct peer p = peer_open();
	const float answer[2] = {1.5f, -2};
	modser_result *r;

	peer_answer_floats(&p, 1, answer, 2);
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &r), MODSER_OK);
	const modser_tensor *t =
		&modser_result_value(r)->as.tuple.item->as.tuple.item->as.tensor;
	cr_expect_eq((uintptr_t)t->data % MODSER_TENSOR_ALIGN, 0);
	cr_expect_eq(memcmp(t->data, answer, sizeof(answer)), 0);
	modser_result_free(r);
	peer_close(&p);
}

Test(client, takes_an_answer_byte_by_byte)
{
	struct peer p = peer_open();
	struct msd_buf body = {0}, frame = {0};
	modser_result *r = NULL;
	uint64_t id = start(&p, NULL);

	peer_begin(&body, id);
	msd_pack_cstr(&body, "slow");
	peer_frame(&frame, &body, "payload", 7);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	for (size_t i = 0; i < frame.n; i++) {
		cr_assert_not(modser_take(p.client, id, &r));
		peer_write(&p, frame.p + i, 1);
		cr_assert_eq(modser_process(p.client), MODSER_OK);
	}
	cr_assert(modser_take(p.client, id, &r));
	cr_expect_str_eq(modser_result_value(r)->as.str.p, "slow");
	modser_result_free(r);
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
	peer_close(&p);
}

/* As fast as it is read. */
static void peer_write_all(const struct peer *p, const struct msd_buf *frame)
{
	const size_t part = 32768;

	for (size_t at = 0; at < frame->n; at += part) {
		const size_t left = frame->n - at;
		peer_write(p, frame->p + at, left < part ? left : part);
		cr_assert_eq(modser_process(p->client), MODSER_OK);
	}
}

Test(client, keeps_no_room_of_a_large_answer)
{
	const size_t n = 4u << 20;
	struct peer p = peer_open();
	struct msd_buf body = {0}, frame = {0};
	uint8_t *bytes = calloc(1, n);
	modser_result *r = NULL;

	for (int i = 0; i < 2; i++) { /* and has room for the next */
		const uint64_t id = start(&p, NULL);
		cr_assert_eq(modser_process(p.client), MODSER_OK);
		peer_begin(&body, id);
		msd_pack_bin(&body, bytes, n);
		peer_frame(&frame, &body, "payload", 7);
		peer_write_all(&p, &frame);
		cr_assert(modser_take(p.client, id, &r));
		cr_expect_eq(modser_result_value(r)->as.str.n, n);
		modser_result_free(r);
		cr_expect_leq(p.client->rx.cap, 1u << 20);
		msd_buf_finish(&body);
		msd_buf_finish(&frame);
	}
	free(bytes);
	peer_close(&p);
}

Test(client, ends_with_io_when_cut_at_any_byte_of_an_answer)
{
	struct msd_buf body = {0}, frame = {0};

	peer_begin(&body, 1);
	msd_pack_cstr(&body, "text");
	peer_frame(&frame, &body, "payload", 7);
	for (size_t cut = 0; cut < frame.n; cut++) {
		struct peer p = peer_open();
		modser_result *r;

		peer_write(&p, frame.p, cut);
		(void)shutdown(p.fd, SHUT_WR);
		cr_assert_eq(modser_request(p.client, "ping", NULL, 0, NULL, &r),
			     MODSER_IO, "cut at %zu", cut);
		cr_assert_eq(modser_fd(p.client), -1);
		modser_result_free(r);
		peer_close(&p);
	}
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
}

struct count {
	int n;
	modser_err last;
};

static void on_done(void *ctx, modser_result *result)
{
	struct count *count = ctx;

	count->n++;
	count->last = modser_result_error(result)->code;
	modser_result_free(result);
}

Test(client, ends_every_request_once_when_the_connection_is_lost)
{
	struct peer p = peer_open();
	struct count count = {0};
	modser_options options = {.done = on_done, .ctx = &count};

	for (int i = 0; i < 5; i++)
		(void)start(&p, &options);
	(void)close(p.fd);
	p.fd = -1;
	cr_assert_eq(modser_process(p.client), MODSER_IO);
	cr_expect_eq(count.n, 5);
	cr_expect_eq(count.last, MODSER_IO);
	cr_expect_eq(modser_start(p.client, "ping", NULL, 0, NULL, NULL), MODSER_IO);
	peer_close(&p);
	cr_expect_eq(count.n, 5);
}

Test(client, cancels_what_is_in_flight_when_closed)
{
	struct peer p = peer_open();
	struct count count = {0};
	modser_options options = {.done = on_done, .ctx = &count};

	(void)start(&p, &options);
	(void)start(&p, NULL);
	peer_close(&p);
	cr_expect_eq(count.n, 1);
	cr_expect_eq(count.last, MODSER_CANCELLED);
}

Test(client, never_blocks_on_a_daemon_that_does_not_read)
{
	struct peer p = peer_open();
	int64_t n = 8 << 20;
	void *data = calloc(1, (size_t)n);
	modser_value arg = modser_tensor_arg((modser_dtype){1, 8, 1}, &n, 1, data);
	struct msd_buf body = {0}, payload = {0};
	modser_result *r;
	uint64_t id;

	cr_assert_eq(modser_start(p.client, "call", &arg, 1, NULL, &id), MODSER_OK);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	cr_expect_eq(modser_events(p.client), MODSER_READABLE | MODSER_WRITABLE);
	/* Answered early: the tensor's memory is in use until all of it has left. */
	peer_refuse(&p, id, MSD_NO_SPACE, "no room");
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	cr_expect_not(modser_take(p.client, id, &r));
	if (fork() == 0) {
		peer_read(&p, &body, &payload);
		_exit(0);
	}
	cr_assert_eq(modser_wait(p.client, id, &r), MODSER_NO_SPACE);
	modser_result_free(r);
	free(data);
	peer_close(&p);
}

Test(client, gives_up_alone_when_the_daemon_keeps_no_deadline)
{
	struct peer p = peer_open();
	modser_options options = {.deadline_ms = 1};
	modser_result *r;
	uint64_t late = start(&p, &options);

	cr_assert_eq(modser_wait(p.client, late, &r), MODSER_DEADLINE);
	modser_result_free(r);
	peer_answer(&p, late, 1); /* thrown away */
	peer_answer(&p, late + 1, 2);
	cr_assert_eq(modser_request(p.client, "ping", NULL, 0, NULL, &r), MODSER_OK);
	cr_expect_eq(modser_result_value(r)->as.i, 2);
	modser_result_free(r);
	peer_close(&p);
}

Test(client, refuses_values_that_would_end_the_connection)
{
	struct peer p = peer_open();
	modser_value bad_text = modser_str("\xff");
	int64_t negative = -1;
	modser_value bad_shape = modser_out_arg(float32, &negative, 1, NULL);
	modser_value nested[MSD_MAX_DEPTH + 2];

	for (size_t i = 0; i < MSD_MAX_DEPTH + 2; i++) {
		nested[i] =
			(modser_value){.kind = MODSER_TUPLE,
				       .as.tuple = {.item = &nested[i + 1],
						    .n = i + 1 < MSD_MAX_DEPTH + 2}};
	}
	cr_expect_eq(modser_start(p.client, "call", &bad_text, 1, NULL, NULL),
		     MODSER_BAD_REQUEST);
	cr_expect_eq(modser_start(p.client, "call", &bad_shape, 1, NULL, NULL),
		     MODSER_BAD_ARGUMENT);
	cr_expect_eq(modser_start(p.client, "call", nested, 1, NULL, NULL),
		     MODSER_BAD_REQUEST);
	cr_expect_eq(modser_in_flight(p.client), 0);
	peer_close(&p);
}

/* Where no answer can be waited for. */
static void open_direct(void *client, modser_result *r)
{
	modser_client *channel = NULL;

	cr_expect_eq(modser_open_direct(client, "m", &channel, NULL),
		     MODSER_BAD_REQUEST);
	modser_result_free(r);
}

Test(client, expects_no_descriptor_for_a_channel_that_it_cannot_take)
{
	struct peer p = peer_open();
	const modser_options options = {.done = open_direct, .ctx = p.client};

	(void)start(&p, &options);
	peer_answer(&p, 1, 1);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	cr_expect(!p.client->takes_fd);
	peer_close(&p);
}

Test(client, survives_each_failing_allocation)
{
	const float answer[2] = {1, 2};
	const int64_t n = 2;
	modser_value arg = modser_out_arg(float32, &n, 1, NULL);
	bool failed = true;

	for (long k = 0; failed; k++) {
		struct peer p = peer_open();
		modser_result *r = NULL;

		peer_answer_floats(&p, 1, answer, 2);
		msd_fail_alloc(k);
		modser_err err = modser_call(p.client, "m:f", &arg, 1, NULL, &r);
		failed = msd_fail_alloc_stop();
		cr_assert_eq(err, failed ? MODSER_NOMEM : MODSER_OK,
			     "allocation %ld: %s", k, modser_result_error(r)->message);
		modser_result_free(r);
		peer_close(&p);
	}
}
