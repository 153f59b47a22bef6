#include <criterion/criterion.h>
#include <stdlib.h>

#include "proto/tvm_rpc/hello.h"
#include "proto/tvm_rpc/tracker.h"
#include "tests/support/fail_alloc.h"

static void expect_frame(struct msd_buf *out, const char *json)
{
	struct msd_span got;
	size_t used;

	cr_assert_not(out->bad);
	cr_assert_eq(msd_rpc_tracker_read((struct msd_span){out->p, out->n}, &got,
					  &used, NULL),
		     MSD_OK);
	cr_expect_eq(used, out->n);
	cr_expect(msd_span_is(got, json), "%.*s", (int)got.n, (const char *)got.p);
	out->n = 0;
}

Test(tvm_rpc_tracker, messages_are_those_of_tvm)
{
	struct msd_buf out = {0};

	msd_rpc_tracker_write_server(&out, "board", NULL, 9090);
	expect_frame(&out, "[5, {\"key\": \"server:board\", \"addr\": [null, 9090]}]");
	msd_rpc_tracker_write_place(&out, "board", "board:17", NULL, 9090);
	expect_frame(&out, "[3, \"board\", [9090, \"board:17\"], null]");
	msd_rpc_tracker_write_place(&out, "a\"b", "a\"b:\\", "h", 1);
	expect_frame(&out, "[3, \"a\\\"b\", [1, \"a\\\"b:\\\\\"], \"h\"]");
	msd_rpc_tracker_write_question(&out);
	expect_frame(&out, "[7]");
	msd_buf_finish(&out);
}

Test(tvm_rpc_tracker, a_message_that_finds_no_memory_is_marked)
{
	for (int n = 0; n < 3; n++) {
		struct msd_buf out = {0};

		msd_fail_alloc(n);
		msd_rpc_tracker_write_server(&out, "board", NULL, 9090);
		cr_expect(msd_fail_alloc_stop());
		cr_expect(out.bad, "allocation %d", n);
		msd_buf_finish(&out);
	}
}

struct keys {
	char text[512];
	unsigned n, most;
};

static bool add(void *user, struct msd_span key)
{
	struct keys *k = user;

	for (size_t i = 0; i < key.n; i++)
		k->text[strlen(k->text)] = (char)key.p[i];
	k->text[strlen(k->text)] = '|';
	return ++k->n <= k->most;
}

static msd_err read_left(const char *json, size_t n, struct keys *ret)
{
	char *exact = malloc(n + 1); /* so that a read past it shows */

	*ret = (struct keys){.most = 4};
	memcpy(exact, json, n);
	const msd_err err = msd_rpc_tracker_read_left(
		(struct msd_span){(const uint8_t *)exact, n}, add, ret, NULL);
	free(exact);
	return err;
}

static void expect_left(const char *json, const char *keys)
{
	struct keys k;

	cr_expect_eq(read_left(json, strlen(json), &k), MSD_OK, "%s", json);
	cr_expect_str_eq(k.text, keys, "%s", json);
	for (size_t n = 0; n < strlen(json); n++) {
		cr_expect_eq(read_left(json, n, &k), MSD_PROTOCOL, "%zu of %s", n,
			     json);
	}
}

Test(tvm_rpc_tracker, keys_that_are_left_are_read)
{
	expect_left("[]", "");
	expect_left("[\"board:0.5\"]", "board:0.5|");
	expect_left("[\"a:1\", \"b:2\",\"\"]", "a:1|b:2||");
	expect_left(" [ \"a\" ,\n\"b\"]", "a|b|");
	expect_left("[\"\\\"\\\\\\/\\u0041\\u00e9\"]", "\"\\/A\xff|");
}

Test(tvm_rpc_tracker, other_json_is_refused)
{
	static const char *const others[] = {"",
					     "0",
					     "{}",
					     "[0]",
					     "[\"a\" \"b\"]",
					     "[\"a\",]",
					     "[,]",
					     "[\"a\"]]",
					     "[[\"a\"]]",
					     "[\"\\x\"]",
					     "[\"\\u12g4\"]",
					     "[\"\n\"]",
					     "[null]",
					     "Traceback",
					     NULL};
	struct keys k;

	for (size_t i = 0; others[i] != NULL; i++) {
		cr_expect_eq(read_left(others[i], strlen(others[i]), &k), MSD_PROTOCOL,
			     "%s", others[i]);
	}
	cr_expect_eq(read_left("[\"\",\"\",\"\",\"\",\"\"]", 16, &k), MSD_PROTOCOL,
		     "the reader of keys has had enough");
}

static bool is_cut(void *user, struct msd_span key)
{
	*(size_t *)user = key.n;
	return true;
}

Test(tvm_rpc_tracker, a_long_key_is_cut)
{
	char json[1000];
	size_t n = 0;

	memset(json, 'k', sizeof(json));
	memcpy(json, "[\"", 2);
	memcpy(json + sizeof(json) - 2, "\"]", 2);
	cr_assert_eq(msd_rpc_tracker_read_left(
			     (struct msd_span){(const uint8_t *)json, sizeof(json)},
			     is_cut, &n, NULL),
		     MSD_OK);
	cr_expect_eq(n, MSD_RPC_TRACKER_TEXT_BYTES + 1);
}

Test(tvm_rpc_tracker, an_announcement_is_answered_by_0)
{
	static const char *const others[] = {"", "1", "-1", "00", "[0]", "null", NULL};

	cr_expect_eq(msd_rpc_tracker_read_done(msd_span_of("0"), NULL), MSD_OK);
	cr_expect_eq(msd_rpc_tracker_read_done(msd_span_of(" 0\n"), NULL), MSD_OK);
	for (size_t i = 0; others[i] != NULL; i++) {
		cr_expect_eq(msd_rpc_tracker_read_done(msd_span_of(others[i]), NULL),
			     MSD_PROTOCOL, "%s", others[i]);
	}
}
