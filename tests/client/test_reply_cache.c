/* Two clients are told the same; one of them knows again what it has heard. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "client/client.h"
#include "proto/body.h"
#include "proto/value.h"
#include "tests/client/peer.h"
#include "tests/client/same.h"
#include "tests/support/fail_alloc.h"

#define OFTEN 3u /* an answer is known when it comes for the third time */

static struct peer peer_without_plans(void)
{
	cr_assert_eq(setenv("MODSER_PLANS", "off", 1), 0);
	struct peer p = peer_open();
	cr_assert_eq(unsetenv("MODSER_PLANS"), 0);
	return p;
}

static void pack_nothing(struct msd_buf *b)
{
	msd_pack_array(b, 2);
	msd_pack_array(b, 0);
	msd_pack_nil(b);
}

static void pack_int(struct msd_buf *b)
{
	msd_pack_int(b, -5);
}

static void pack_texts(struct msd_buf *b)
{
	msd_pack_array(b, 3);
	msd_pack_cstr(b, "text");
	msd_pack_cstr(b, "");
	msd_pack_bin(b, "\0\1", 2);
}

static void pack_map(struct msd_buf *b)
{
	msd_pack_map(b, 1);
	msd_pack_cstr(b, "key");
	msd_pack_array(b, 2);
	msd_pack_bool(b, true);
	msd_pack_float(b, 1.5);
}

static void pack_kinds(struct msd_buf *b)
{
	const int64_t dim[] = {2, 3};

	msd_pack_array(b, 4);
	msd_pack_dtype(b, (struct msd_dtype){2, 32, 1});
	msd_pack_device(b, (struct msd_device){2, 1});
	msd_pack_shape(b, dim, 2);
	msd_pack_shape(b, NULL, 0);
}

static void pack_many(struct msd_buf *b)
{
	msd_pack_array(b, 40);
	for (int i = 0; i < 40; i++)
		msd_pack_int(b, i);
}

static void pack_handle(struct msd_buf *b)
{
	msd_pack_handle(b, MSD_EXT_FUNCTION, (struct msd_handle){3, 4});
}

static void pack_resident(struct msd_buf *b)
{
	const struct msd_wire_tensor t = {.where = MSD_AT_RESIDENT,
					  .handle = {1, 2},
					  .dtype = {MSD_DT_FLOAT, 32, 1},
					  .bytes = 12,
					  .ndim = 1,
					  .shape = {3}};

	msd_pack_tensor(b, &t);
}

static const struct {
	void (*pack)(struct msd_buf *b);
	bool is_copied; /* else it is decoded, though it is known */
} values[] = {
	{pack_nothing, true}, {pack_int, true},       {pack_texts, true},
	{pack_map, true},     {pack_kinds, true},     {pack_many, false},
	{pack_handle, false}, {pack_resident, false},
};
#define N_VALUES (sizeof(values) / sizeof(values[0]))

/* The frame that answers request @id with a value, having run for @exec_ns. */
static struct msd_buf answer(uint64_t id, void (*pack)(struct msd_buf *b),
			     uint64_t exec_ns)
{
	struct msd_buf body = {0}, frame = {0};

	msd_body_begin_result(&body, id, true);
	pack(&body);
	msd_body_put_timed(&body, exec_ns);
	peer_frame(&frame, &body, NULL, 0);
	msd_buf_finish(&body);
	return frame;
}

/* The result of a call without arguments, or of one with the output @out. */
static modser_result *call(struct peer *p, const struct msd_buf *frame,
			   const modser_value *out)
{
	modser_result *r = NULL;

	peer_write(p, frame->p, frame->n);
	const modser_err err =
		modser_call(p->client, "m:f", out, out != NULL, NULL, &r);
	cr_assert_eq(modser_result_error(r)->code, err);
	return r;
}

static void expect_same(struct peer *a, struct peer *b, const struct msd_buf *frame,
			const modser_value *out, const char *what, size_t n)
{
	modser_result *ra = call(a, frame, out);
	modser_result *rb = call(b, frame, out);

	cr_expect(same_result(ra, rb), "%s %zu: %s, not %s", what, n,
		  modser_result_error(ra)->message, modser_result_error(rb)->message);
	modser_result_free(ra);
	modser_result_free(rb);
}

/* Both have heard the same value so often that one knows it. */
static void hear(struct peer *a, struct peer *b, void (*pack)(struct msd_buf *b))
{
	for (uint64_t id = 1; id <= OFTEN; id++) {
		struct msd_buf frame = answer(id, pack, 100 * id);
		expect_same(a, b, &frame, NULL, "time", id);
		msd_buf_finish(&frame);
	}
}

Test(heard, what_is_known_again_is_what_it_is_without_plans)
{
	for (size_t i = 0; i < N_VALUES; i++) {
		struct peer a = peer_open(), b = peer_without_plans();
		const struct msd_memory *known = &a.client->heard.answers;

		hear(&a, &b, values[i].pack);
		cr_expect_eq(known->n_known, 1, "value %zu", i);
		cr_expect_eq(known->known[0]->plan != NULL, values[i].is_copied,
			     "value %zu", i);
		cr_expect_eq(b.client->heard.answers.n_known, 0);
		peer_close(&a);
		peer_close(&b);
	}
}

/* Each of them once more, with one bit of the fourth answer changed. */
static void expect_same_with_bit(void (*pack)(struct msd_buf *b), size_t bit)
{
	struct peer a = peer_open(), b = peer_without_plans();
	struct msd_buf frame = answer(OFTEN + 1, pack, 300);

	hear(&a, &b, pack);
	frame.p[bit / 8] ^= (uint8_t)(1u << bit % 8);
	peer_write(&a, frame.p, frame.n);
	peer_write(&b, frame.p, frame.n);
	(void)shutdown(a.fd, SHUT_WR); /* who waits for more has an end */
	(void)shutdown(b.fd, SHUT_WR);
	frame.n = 0;
	expect_same(&a, &b, &frame, NULL, "bit", bit);
	msd_buf_finish(&frame);
	peer_close(&a);
	peer_close(&b);
}

Test(heard, each_changed_bit_gives_what_it_gives_without_plans)
{
	for (size_t i = 0; i < N_VALUES; i++) {
		struct msd_buf frame = answer(1, values[i].pack, 1);
		const size_t n_bits = 8 * frame.n;

		msd_buf_finish(&frame);
		cr_assert_gt(n_bits, 8 * MSD_FRAME_HEADER_BYTES);
		for (size_t bit = 0; bit < n_bits; bit++)
			expect_same_with_bit(values[i].pack, bit);
	}
}

Test(heard, what_one_caller_has_is_its_own)
{
	struct peer a = peer_open(), b = peer_without_plans();

	hear(&a, &b, pack_texts);
	struct msd_buf fourth = answer(4, pack_texts, 1),
		       fifth = answer(5, pack_texts, 1);
	modser_result *first = call(&a, &fourth, NULL);
	modser_result *second = call(&a, &fifth, NULL);
	const char *text = modser_result_value(second)->as.tuple.item[0].as.str.p;
	cr_expect_neq(modser_result_value(first)->as.tuple.item[0].as.str.p, text);
	modser_result_free(first);
	peer_close(&a);
	cr_expect_str_eq(text, "text");
	modser_result_free(second);
	msd_buf_finish(&fourth);
	msd_buf_finish(&fifth);
	peer_close(&b);
}

Test(heard, what_was_said_to_a_call_without_outputs_is_no_answer_to_one_with_some)
{
	const modser_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const int64_t n = 2;
	float y[2];
	const modser_value out = modser_out_arg(float32, &n, 1, y);
	struct peer a = peer_open(), b = peer_without_plans();
	struct msd_buf frame = answer(OFTEN + 1, pack_nothing, 1);

	hear(&a, &b, pack_nothing);
	expect_same(&a, &b, &frame, &out, "out", 1);
	cr_expect_eq(modser_why(a.client)->code, MODSER_PROTOCOL);
	msd_buf_finish(&frame);
	peer_close(&a);
	peer_close(&b);
}

static int64_t number; /* that pack_number() says */

static void pack_number(struct msd_buf *b)
{
	msd_pack_int(b, number);
}

Test(heard, no_more_are_kept_than_a_memory_has_room_for)
{
	struct peer a = peer_open();

	for (uint64_t id = 1; id <= 4 * OFTEN * MSD_MEMORY_BODIES; id++) {
		number = 100 + (int64_t)((id - 1) / OFTEN);
		struct msd_buf frame = answer(id, pack_number, id);
		modser_result *r = call(&a, &frame, NULL);
		cr_expect_eq(modser_result_value(r)->as.i, number);
		modser_result_free(r);
		msd_buf_finish(&frame);
	}
	cr_expect_eq(a.client->heard.answers.n_known, MSD_MEMORY_BODIES);
	peer_close(&a);
}

#define CALLS (2 * OFTEN)

/* Call so often that all is known, from nothing on; memory may be short once. */
static void call_often(struct peer *p, const struct msd_buf frames[CALLS])
{
	uint64_t answered = 0;

	for (unsigned i = 0; i < CALLS && modser_fd(p->client) >= 0; i++) {
		modser_result *r = NULL;
		const uint64_t id = p->client->next_id + 1;

		if (answered < id)
			peer_write(p, frames[id - 1].p, frames[id - 1].n);
		answered = id;
		const modser_err err = modser_call(p->client, "m:f", NULL, 0, NULL, &r);
		cr_assert(err == MODSER_OK || err == MODSER_NOMEM, "call %u: %d", i,
			  (int)err);
		cr_assert_eq(err == MODSER_OK, modser_result_value(r) != NULL);
		modser_result_free(r);
	}
}

Test(heard, survives_each_failing_allocation)
{
	struct msd_buf frames[CALLS];
	bool failed = true;
	long k = 0;

	for (uint64_t i = 0; i < CALLS; i++)
		frames[i] = answer(i + 1, pack_texts, i);
	for (; failed; k++) {
		struct peer p = peer_open();

		msd_fail_alloc(k);
		call_often(&p, frames);
		failed = msd_fail_alloc_stop();
		peer_close(&p);
	}
	cr_expect_gt(k, 10, "each had its turn");
	for (size_t i = 0; i < CALLS; i++)
		msd_buf_finish(&frames[i]);
}
