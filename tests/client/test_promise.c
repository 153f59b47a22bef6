#include <criterion/criterion.h>
#include <string.h>

#include "proto/body.h"
#include "proto/result_of.h"
#include "proto/value.h"
#include "tests/client/peer.h"

/* The next request that the library has sent; its bytes stay in @bytes. */
static struct msd_body next(struct peer *p, struct msd_buf *bytes)
{
	struct msd_buf payload = {0};
	struct msd_body b = {0};

	bytes->n = 0;
	peer_read(p, bytes, &payload);
	cr_assert_eq(
		msd_body_read((struct msd_span){bytes->p, bytes->n}, NULL, &b, NULL),
		MSD_OK);
	msd_buf_finish(&payload);
	return b;
}

static struct msd_result_of named_in(struct msd_span part)
{
	struct msd_cur c = msd_cur_of(part);
	struct msd_result_of r = {0};
	struct msd_span before;

	cr_assert(msd_result_of_next(&c, &before, &r));
	return r;
}

Test(client_promise, requests_that_follow_from_each_other_leave_before_an_answer)
{
	struct peer p = peer_open();
	const modser_options promised = {.promised = true};
	const modser_value name = modser_str("m");
	modser_value args[2] = {modser_str("m:f")};
	modser_options of = {.promised = true};
	struct msd_buf bytes = {0};
	uint64_t made, called;

	cr_assert_eq(
		modser_start(p.client, "module.instance", &name, 1, &promised, &made),
		MODSER_OK);
	of.instance_of = made;
	cr_assert_eq(modser_start(p.client, "call", args, 1, &of, &called), MODSER_OK);
	args[1] = modser_result_of(called);
	args[1].as.result_of.n_way = 2;
	args[1].as.result_of.way[0] = 1;
	args[1].as.result_of.way[1] = 70000;
	cr_assert_eq(modser_start(p.client, "call", args, 2, NULL, NULL), MODSER_OK);
	cr_assert_eq(modser_process(p.client), MODSER_OK);
	struct msd_body b = next(&p, &bytes);
	cr_expect_eq(msd_map_value(b.options, "promised").n, 1);
	b = next(&p, &bytes);
	cr_expect_eq(named_in(msd_map_value(b.options, "instance")).id, made);
	b = next(&p, &bytes);
	const struct msd_result_of r = named_in(b.params);
	cr_expect_eq(r.id, called);
	cr_expect(r.n_path == 2 && r.path[0] == 1 && r.path[1] == 70000);
	msd_buf_finish(&bytes);
	peer_close(&p);
}

Test(client_promise, a_way_that_is_too_long_is_refused)
{
	struct peer p = peer_open();
	modser_value args[2] = {modser_str("m:f"), modser_result_of(1)};

	args[1].as.result_of.n_way = MODSER_MAX_WAY + 1;
	cr_expect_eq(modser_start(p.client, "call", args, 2, NULL, NULL),
		     MODSER_BAD_REQUEST);
	cr_expect_not_null(strstr(modser_why(p.client)->message, "at most 4"));
	peer_close(&p);
}
