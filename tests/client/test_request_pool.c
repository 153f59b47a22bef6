#include <criterion/criterion.h>
#include <string.h>

#include "client/client.h"
#include "tests/client/peer.h"
#include "tests/support/fail_alloc.h"

/* Start @n calls with the argument @text. */
static void start(struct peer *p, unsigned n, const char *text)
{
	const modser_value params[] = {modser_str("m:f"), modser_str(text)};

	for (unsigned i = 0; i < n; i++) {
		cr_assert_eq(modser_start(p->client, "call", params, 2, NULL, NULL),
			     MODSER_OK);
	}
}

/* Answer what was started since the last time, and take it. */
static void end(struct peer *p, unsigned n)
{
	const uint64_t last = p->client->next_id;

	for (uint64_t id = last - n + 1; id <= last; id++) {
		modser_result *r;

		peer_answer(p, id, 1);
		cr_assert_eq(modser_wait(p->client, id, &r), MODSER_OK);
		modser_result_free(r);
	}
}

Test(spare_tickets, the_one_that_is_over_is_the_next)
{
	struct peer p = peer_open();

	start(&p, 1, "x");
	const struct msd_ticket *t = msd_client_find(p.client, 1);
	end(&p, 1);
	cr_expect_eq(p.client->spares.n, 1);
	start(&p, 1, "y");
	cr_expect_eq(msd_client_find(p.client, 2), t);
	cr_expect_eq(p.client->spares.n, 0);
	end(&p, 1);
	peer_close(&p);
}

Test(spare_tickets, no_more_are_kept)
{
	struct peer p = peer_open();

	start(&p, MSD_REQUEST_POOL + 10, "x");
	end(&p, MSD_REQUEST_POOL + 10);
	cr_expect_eq(p.client->spares.n, MSD_REQUEST_POOL);
	peer_close(&p);
}

Test(spare_tickets, large_buffers_are_given_back)
{
	char text[MSD_FREE_LIST_TICKET_BYTES + 1];
	struct peer p = peer_open();

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	start(&p, 1, text);
	end(&p, 1);
	cr_expect_eq(p.client->spares.n, 0);
	peer_close(&p);
}

Test(spare_tickets, the_buffers_of_all_have_a_bound)
{
	char text[1500];
	struct peer p = peer_open();

	memset(text, 'x', sizeof(text));
	text[sizeof(text) - 1] = '\0';
	start(&p, MSD_REQUEST_POOL, text);
	end(&p, MSD_REQUEST_POOL);
	cr_expect_gt(p.client->spares.n, 0);
	cr_expect_lt(p.client->spares.n, MSD_REQUEST_POOL);
	cr_expect_leq(p.client->spares.bytes, MSD_REQUEST_POOL_BYTES);
	peer_close(&p);
}

Test(spare_tickets, a_request_has_nothing_of_the_last_one)
{
	const modser_dtype float32 = {MSD_DT_FLOAT, 32, 1};
	const int64_t n = 3;
	const float x[3] = {1, 2, 3};
	const modser_value params[] = {modser_str("m:f"),
				       modser_tensor_arg(float32, &n, 1, x),
				       modser_out_arg(float32, &n, 1, NULL)};
	struct peer p = peer_open();
	const modser_options options = {.deadline_ms = 100000, .ctx = &p};

	peer_refuse(&p, 1, MSD_NOT_FOUND, "no");
	cr_assert_eq(modser_start(p.client, "call", params, 3, &options, NULL),
		     MODSER_OK);
	modser_result *r;
	cr_assert_eq(modser_wait(p.client, 1, &r), MODSER_NOT_FOUND);
	modser_result_free(r);
	start(&p, 1, "x");
	const struct msd_ticket *t = msd_client_find(p.client, 2);
	cr_expect_eq(t->n_iov, 1);
	cr_expect_eq(t->at_iov, 0);
	cr_expect_eq(t->n_outs, 0);
	cr_expect_eq(t->deadline_ns, UINT64_MAX);
	cr_expect(t->ctx == NULL && !t->begun && !t->ended && t->fd == -1);
	end(&p, 1);
	peer_close(&p);
}

Test(spare_tickets, a_refused_request_leaves_one)
{
	const modser_value bad = modser_str("\xff");
	struct peer p = peer_open();

	cr_expect_eq(modser_start(p.client, "ping", &bad, 1, NULL, NULL),
		     MODSER_BAD_REQUEST);
	cr_expect_eq(p.client->spares.n, 1);
	start(&p, 1, "x");
	end(&p, 1);
	peer_close(&p);
}

Test(spare_tickets, a_call_that_came_before_asks_for_its_result_alone)
{
	struct peer p = peer_open();

	for (uint64_t id = 1; id <= 5; id++) {
		modser_result *r;

		peer_answer_timed(&p, id, 1, id);
		msd_fail_alloc(id < 4 ? 1000 : 1); /* the second from here on */
		cr_expect_eq(modser_call(p.client, "m:f", NULL, 0, NULL, &r),
			     MODSER_OK);
		cr_expect(!msd_fail_alloc_stop(), "call %u", (unsigned)id);
		modser_result_free(r);
	}
	peer_close(&p);
}

Test(spare_tickets, a_request_like_one_that_came_before_is_checked_by_itself)
{
	const char *const texts[] = {"ab", "ab", "ab", "\xff\xfe", "ab"};
	struct peer p = peer_open();

	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		const modser_value v = modser_str(texts[i]);
		const bool is_bad = texts[i][0] != 'a';

		cr_expect_eq(modser_start(p.client, "ping", &v, 1, NULL, NULL),
			     is_bad ? MODSER_BAD_REQUEST : MODSER_OK, "%zu", i);
		if (!is_bad)
			end(&p, 1);
	}
	cr_expect_eq(p.client->asked.n_known, 1);
	peer_close(&p);
}
