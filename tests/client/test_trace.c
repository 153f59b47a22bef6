#include <criterion/criterion.h>

#include "proto/body.h"
#include "proto/value.h"
#include "tests/client/peer.h"

/* The meta of an answer to a traced call, with a stage of a later daemon. */
static void put_trace(struct msd_buf *out)
{
	msd_pack_map(out, 2);
	msd_pack_cstr(out, "trace");
	msd_pack_map(out, 4);
	msd_pack_pair_uint(out, "queue_ns", 30);
	msd_pack_pair_uint(out, "rest_ns", 5);
	msd_pack_pair_uint(out, "reply_ns", 65);
	msd_pack_pair_uint(out, "total_ns", 100);
	msd_pack_pair_uint(out, "exec_ns", 7);
}

/* The result of a call that is answered with a trace. */
static modser_result *call_traced(struct peer *p, const modser_options *options)
{
	struct msd_buf body = {0}, frame = {0};
	modser_result *r;

	msd_body_begin_response(&body, 1, true);
	msd_pack_nil(&body);
	msd_pack_int(&body, 5);
	put_trace(&body);
	peer_frame(&frame, &body, NULL, 0);
	peer_write(p, frame.p, frame.n);
	cr_assert_eq(modser_call(p->client, "m:f", NULL, 0, options, &r), MODSER_OK);
	msd_buf_finish(&body);
	msd_buf_finish(&frame);
	return r;
}

Test(trace, is_asked_for)
{
	const modser_options options = {.trace = true};
	struct peer p = peer_open();
	struct msd_buf body = {0}, payload = {0};
	struct msd_body b;

	modser_result_free(call_traced(&p, &options));
	peer_read(&p, &body, &payload);
	cr_assert_eq(msd_body_read((struct msd_span){body.p, body.n}, NULL, &b, NULL),
		     MSD_OK);
	const struct msd_span v = msd_map_value(b.options, "trace");
	cr_assert_eq(v.n, 1);
	cr_expect_eq(v.p[0], 0xc3, "true");
	msd_buf_finish(&body);
	msd_buf_finish(&payload);
	peer_close(&p);
}

Test(trace, gives_the_stages_of_a_call)
{
	struct peer p = peer_open();
	modser_trace t = {0};
	modser_result *r = call_traced(&p, NULL);

	cr_assert(modser_result_trace(r, &t));
	cr_expect_eq(t.queue_ns, 30);
	cr_expect_eq(t.reply_ns, 65);
	cr_expect_eq(t.total_ns, 100);
	cr_expect_eq(t.run_ns, 0, "it was not said");
	cr_expect_eq(modser_result_exec_ns(r), 7, "what lies behind is read, too");
	modser_result_free(r);
	peer_close(&p);
}

Test(trace, is_absent_where_none_was_asked_for)
{
	struct peer p = peer_open();
	modser_trace t = {.run_ns = 1};
	modser_result *r;

	peer_answer(&p, 1, 5);
	cr_assert_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &r), MODSER_OK);
	cr_expect_not(modser_result_trace(r, &t));
	cr_expect_eq(t.run_ns, 1, "unchanged");
	cr_expect_not(modser_result_trace(NULL, &t));
	modser_result_free(r);
	peer_close(&p);
}
