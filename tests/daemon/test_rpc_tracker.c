#include <criterion/criterion.h>

#include "daemon/supervisor/rpc/match_key.h"
#include "daemon/supervisor/rpc/tracker_step.h"
#include "tests/support/fail_alloc.h"

/* Counts what the actions of one tracker have done. */
struct course {
	enum msd_tracker_state state;
	int links, questions; /* open at a time */
};

#define QUESTIONS                                                                      \
	(MSD_TRACKER_GREET | MSD_TRACKER_TELL | MSD_TRACKER_PUT | MSD_TRACKER_ASK)

static void go(struct course *c, enum msd_tracker_event event)
{
	const bool has_answered =
		event == MSD_TRACKER_HAS_ANSWERED && msd_tracker_state_waits(c->state);
	const struct msd_tracker_step step = msd_tracker_step(c->state, event);

	c->state = step.next;
	c->questions -= has_answered;
	if (step.actions & MSD_TRACKER_CLOSE)
		c->links = c->questions = 0;
	c->links += (step.actions & MSD_TRACKER_CONNECT) != 0;
	c->questions += __builtin_popcount(step.actions & QUESTIONS);
}

static void expect_consistent(const struct course *c)
{
	cr_expect_eq(c->questions, msd_tracker_state_waits(c->state));
	cr_expect_eq(c->links,
		     c->state != MSD_TRACKER_RESTING && c->state != MSD_TRACKER_LEFT);
	cr_expect(!msd_tracker_state_is_known(c->state) || c->links == 1);
}

/* All courses of nine events, whatever happens in whatever order. */
static void expect_all_consistent(struct course c, int depth)
{
	expect_consistent(&c);
	for (unsigned e = 0; depth > 0 && e < MSD_TRACKER_EVENT_COUNT; e++) {
		struct course next = c;
		go(&next, (enum msd_tracker_event)e);
		if (next.state != c.state)
			expect_all_consistent(next, depth - 1);
	}
}

Test(rpc_tracker, one_connection_has_one_question_at_a_time)
{
	expect_all_consistent((struct course){.state = MSD_TRACKER_RESTING}, 9);
}

Test(rpc_tracker, a_failure_leads_to_another_attempt)
{
	for (unsigned s = 0; s < MSD_TRACKER_LEFT; s++) {
		struct course c = {.state = (enum msd_tracker_state)s};

		go(&c, MSD_TRACKER_HAS_FAILED);
		cr_expect_eq(c.state, MSD_TRACKER_RESTING, "state %u", s);
		go(&c, MSD_TRACKER_IS_DUE);
		cr_expect_eq(c.state, MSD_TRACKER_CONNECTING);
	}
}

Test(rpc_tracker, a_daemon_that_stops_never_connects_again)
{
	for (unsigned s = 0; s < MSD_TRACKER_STATE_COUNT; s++) {
		struct course c = {.state = (enum msd_tracker_state)s};

		go(&c, MSD_TRACKER_MUST_LEAVE);
		for (unsigned e = 0; e < MSD_TRACKER_EVENT_COUNT; e++)
			go(&c, (enum msd_tracker_event)e);
		cr_expect_eq(c.state, MSD_TRACKER_LEFT, "state %u", s);
		cr_expect_eq(c.links, 0);
	}
}

Test(rpc_tracker, the_delay_doubles_to_its_limit_with_jitter)
{
	uint64_t most = MSD_TRACKER_LEAST_MS;

	for (uint32_t n = 1; n < 100; n++) {
		cr_expect_eq(msd_tracker_delay_ms(n, 0), most / 2, "%u failures", n);
		cr_expect_eq(msd_tracker_delay_ms(n, UINT32_MAX), most / 2 * 2);
		most = 2 * most < MSD_TRACKER_MOST_MS ? 2 * most : MSD_TRACKER_MOST_MS;
	}
	cr_expect_leq(msd_tracker_delay_ms(UINT32_MAX, UINT32_MAX),
		      MSD_TRACKER_MOST_MS);
}

static struct msd_match_keys keys(uint32_t n)
{
	struct msd_match_keys all = {0};

	cr_assert_eq(msd_match_keys_init(&all, "a:b", n, NULL), MSD_OK);
	return all;
}

static void answer(struct msd_match_keys *all, const struct msd_match_key *left,
		   uint64_t now_ms)
{
	msd_match_keys_begin(all);
	if (left != NULL)
		cr_expect(msd_match_keys_left(all, msd_span_of(left->text)));
	msd_match_keys_end(all, now_ms);
}

Test(rpc_tracker, each_place_is_announced_once_with_a_key_of_its_own)
{
	struct msd_match_keys all = keys(2);

	cr_expect(msd_match_keys_lack(&all));
	const struct msd_match_key *a = msd_match_keys_tell(&all),
				   *b = msd_match_keys_tell(&all);
	cr_assert(a != NULL && b != NULL);
	cr_expect_not(msd_match_keys_lack(&all));
	cr_expect_null(msd_match_keys_tell(&all));
	cr_expect_str_neq(a->text, b->text);
	cr_expect_eq(strncmp(a->text, "a:b:", 4), 0);
	cr_expect_eq(strlen(a->text), 4 + 32);
	cr_expect_null(strchr(a->text + 4, ':'), "the tracker cuts at the last colon");
	msd_match_keys_finish(&all);
}

Test(rpc_tracker, a_key_is_used_once_and_replaced_afterwards)
{
	struct msd_match_keys all = keys(1);
	char first[MSD_MATCH_KEY_BYTES + 1];

	cr_expect_null(msd_match_keys_use(&all, msd_span_of("")), "no key is told yet");
	strcpy(first, msd_match_keys_tell(&all)->text);
	cr_expect_null(msd_match_keys_use(&all, msd_span_of("a:b")));
	cr_expect_null(msd_match_keys_use(&all, msd_span_of("")));
	struct msd_match_key *k = msd_match_keys_use(&all, msd_span_of(first));
	cr_assert_not_null(k);
	cr_expect_null(msd_match_keys_use(&all, msd_span_of(first)));
	answer(&all, NULL, 1);
	msd_match_keys_reset(&all);
	cr_expect_not(msd_match_keys_lack(&all), "its place is taken");
	k->state = MSD_MATCH_KEY_NEW;
	cr_expect_null(msd_match_keys_use(&all, msd_span_of(first)));
	cr_expect_str_neq(msd_match_keys_tell(&all)->text, first);
	msd_match_keys_finish(&all);
}

Test(rpc_tracker, a_key_that_was_given_away_has_its_time)
{
	struct msd_match_keys all = keys(2);
	const struct msd_match_key *a = msd_match_keys_tell(&all),
				   *b = msd_match_keys_tell(&all);

	answer(&all, a, 1000);
	cr_expect_eq(a->state, MSD_MATCH_KEY_TOLD);
	cr_expect_eq(b->state, MSD_MATCH_KEY_GIVEN);
	answer(&all, a, 1000 + MSD_MATCH_KEY_MS);
	cr_expect_eq(b->state, MSD_MATCH_KEY_GIVEN);
	answer(&all, a, 1001 + MSD_MATCH_KEY_MS);
	cr_expect_eq(b->state, MSD_MATCH_KEY_NEW);
	cr_expect_eq(a->state, MSD_MATCH_KEY_TOLD);
	msd_match_keys_finish(&all);
}

Test(rpc_tracker, a_new_tracker_is_told_all_free_places)
{
	struct msd_match_keys all = keys(3);

	(void)msd_match_keys_tell(&all);
	struct msd_match_key *given = &all.keys[1];
	(void)msd_match_keys_tell(&all);
	answer(&all, &all.keys[0], 5);
	(void)msd_match_keys_tell(&all);
	cr_assert_eq(given->state, MSD_MATCH_KEY_GIVEN);
	msd_match_keys_reset(&all);
	cr_expect_eq(given->state, MSD_MATCH_KEY_GIVEN, "its client may still come");
	cr_expect_not_null(msd_match_keys_tell(&all));
	cr_expect_not_null(msd_match_keys_tell(&all));
	cr_expect_null(msd_match_keys_tell(&all));
	msd_match_keys_finish(&all);
}

Test(rpc_tracker, anothers_key_is_a_lie)
{
	struct msd_match_keys all = keys(2);

	(void)msd_match_keys_tell(&all);
	msd_match_keys_begin(&all);
	cr_expect_not(msd_match_keys_left(&all, msd_span_of("")));
	cr_expect_not(msd_match_keys_left(&all, msd_span_of("a:b:0.5")));
	msd_match_keys_finish(&all);
}

Test(rpc_tracker, keys_that_find_no_memory_are_an_error)
{
	struct msd_match_keys all = {0};

	msd_fail_alloc(0);
	const msd_err err = msd_match_keys_init(&all, "k", 1, NULL);
	cr_expect(msd_fail_alloc_stop());
	cr_expect_eq(err, MSD_NOMEM);
}
