#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/limits.h"
#include "daemon/rpc_page.h"
#include "daemon/supervisor/rpc/rpc_process.h"
#include "daemon/supervisor/rpc/rpc_settings.h"
#include "daemon/supervisor/rpc/rpc_step.h"
#include "proto/tvm_rpc/packet.h"

/* Counts what the actions of one connection have done. */
struct course {
	enum msd_rpc_state state;
	int places, processes, answers, closes;
};

static void go(struct course *c, enum msd_rpc_event event)
{
	const struct msd_rpc_step step = msd_rpc_step(c->state, event);

	c->state = step.next;
	c->places += (step.actions & MSD_RPC_START) != 0;
	c->processes += (step.actions & MSD_RPC_START) != 0;
	c->places -= (step.actions & MSD_RPC_FREE_PLACE) != 0;
	c->answers += (step.actions & (MSD_RPC_REFUSE | MSD_RPC_TELL)) != 0;
	c->closes += (step.actions & MSD_RPC_CLOSE) != 0;
}

static void expect_consistent(const struct course *c)
{
	cr_expect_eq(c->places, msd_rpc_state_has_process(c->state));
	cr_expect_leq(c->processes, 1);
	cr_expect_leq(c->answers, 1);
	cr_expect_eq(c->closes, c->state == MSD_RPC_CLOSED);
	cr_expect_not_null(msd_rpc_state_word(c->state));
}

/* All courses of seven events, whatever happens in whatever order. */
static void expect_all_consistent(struct course c, int depth)
{
	expect_consistent(&c);
	for (unsigned e = 0; depth > 0 && e < MSD_RPC_EVENT_COUNT; e++) {
		struct course next = c;
		go(&next, (enum msd_rpc_event)e);
		if (next.state != c.state)
			expect_all_consistent(next, depth - 1);
	}
}

Test(rpc, a_place_is_freed_once_and_a_connection_closed_once)
{
	expect_all_consistent((struct course){.state = MSD_RPC_HELLO}, 7);
}

Test(rpc, ends_by_itself_when_time_passes)
{
	for (unsigned s = 0; s < MSD_RPC_CLOSED; s++) {
		struct course c = {.state = (enum msd_rpc_state)s};
		for (int i = 0; i < 4; i++) {
			go(&c, MSD_RPC_IS_DUE);
			go(&c, MSD_RPC_HAS_DIED); /* a killed process */
		}
		cr_expect_eq(c.state, MSD_RPC_CLOSED, "state %u", s);
	}
}

Test(rpc, only_a_session_that_the_client_ended_ends_silently)
{
	struct course c = {.state = MSD_RPC_RUNNING};

	go(&c, MSD_RPC_HAS_ENDED);
	cr_expect_eq(c.answers, 0);
	c = (struct course){.state = MSD_RPC_RUNNING};
	go(&c, MSD_RPC_MUST_END);
	cr_expect_eq(c.state, MSD_RPC_DYING);
	go(&c, MSD_RPC_HAS_DIED);
	cr_expect_eq(c.answers, 1);
}

Test(rpc, a_key_is_the_same_in_each_byte)
{
	cr_expect(msd_rpc_key_is("", msd_span_of("")));
	cr_expect(msd_rpc_key_is("board:1", msd_span_of("board:1")));
	cr_expect_not(msd_rpc_key_is("", msd_span_of("x")));
	cr_expect_not(msd_rpc_key_is("x", msd_span_of("")));
	cr_expect_not(msd_rpc_key_is("board", msd_span_of("boar")));
	cr_expect_not(msd_rpc_key_is("board", msd_span_of("boardboard")));
	for (size_t i = 0; i < 5; i++) {
		char other[] = "board";
		other[i] ^= 1;
		cr_expect_not(msd_rpc_key_is("board", msd_span_of(other)));
	}
}

static msd_err read_settings(const char *text, struct msd_rpc_settings *ret)
{
	return msd_rpc_settings_read(text, ret, NULL);
}

Test(rpc, settings_have_an_address_a_key_and_a_number)
{
	struct msd_rpc_settings s;

	cr_assert_eq(read_settings("127.0.0.1:9090", &s), MSD_OK);
	cr_expect_eq(s.address.port, 9090);
	cr_expect_str_eq(s.key, "");
	cr_expect_eq(s.sessions, MSD_RPC_SESSIONS);
	cr_assert_eq(read_settings("[::1]:1,sessions=3,key=a:b=c", &s), MSD_OK);
	cr_expect_str_eq(s.key, "a:b=c");
	cr_expect_eq(s.sessions, 3);
	cr_assert_eq(read_settings("h:1,tracker=[::2]:9,as=me,key=k", &s), MSD_OK);
	cr_expect_str_eq(s.tracker.host, "::2");
	cr_expect_eq(s.tracker.port, 9);
	cr_expect_str_eq(s.as, "me");
	cr_expect_eq(s.sessions, MSD_RPC_TRACKER_SESSIONS);
	cr_assert_eq(read_settings("h:1,sessions=5,key=k,tracker=t:9", &s), MSD_OK);
	cr_expect_eq(s.sessions, 5);
	cr_expect_str_eq(s.as, "");
	for (const char *const *bad =
		     (const char *const[]){"", ":1", "h", "unix:/x", "tcp://h:1",
					   "h:1,", "h:1,key", "h:1,key=", "h:1,key=a b",
					   "h:1,sessions=", "h:1,sessions=-1",
					   "h:1,sessions=1025", "h:1,sessions=2x",
					   "h:1,tracker=t:9", "h:1,key=k,tracker=t",
					   "h:1,key=k,tracker=t:0", "h:1,key=k,as=h",
					   "h:1,key=k,tracker=t:9,as=", NULL};
	     *bad != NULL; bad++)
		cr_expect_eq(read_settings(*bad, &s), MSD_BAD_REQUEST, "%s", *bad);
}

static struct msd_rpc_page running(const char *name)
{
	struct msd_rpc_page page = {.n_packets = 3};

	msd_rpc_page_set(&page, MSD_RPC_PAGE_RUNNING);
	msd_rpc_page_note(&page, name != NULL ? "call of" : NULL, name);
	return page;
}

Test(rpc, the_end_of_a_call_is_told_in_the_era_of_the_client)
{
	struct msd_rpc_page page = running("f\xff\n");
	const struct msd_rpc_process p = {.page = &page};
	struct msd_buf out = {0};

	msd_rpc_process_tell(&p, msd_span_of("it died"), 0, &out);
	cr_assert_eq(out.n, 8 + 4 + 4 + 4 + 8 + 23);
	cr_expect_eq(out.p[8], MSD_RPC_EXCEPTION);
	cr_expect_eq(out.p[16], 8); /* the type of a text, 0.21 and later */
	cr_expect_eq(memcmp(out.p + 28, "it died; in call of f?\n", 23), 0);
	out.n = 0;
	page.is_classic = 1;
	msd_rpc_process_tell(&p, msd_span_of("it died"), 0, &out);
	cr_expect_eq(out.p[16], 11);
	msd_buf_finish(&out);
}

Test(rpc, nothing_is_told_within_an_answer)
{
	struct msd_rpc_page page = running("f");
	const struct msd_rpc_process p = {.page = &page};
	struct msd_buf out = {0};

	page.out_bytes = 100;
	page.answer_bytes = 20;
	msd_rpc_page_set(&page, MSD_RPC_PAGE_WRITING);
	for (uint64_t written = 101; written < 120; written++) {
		msd_rpc_process_tell(&p, msd_span_of("it died"), written, &out);
		cr_assert_eq(out.n, 0);
	}
	msd_rpc_process_tell(&p, msd_span_of("it died"), 100, &out);
	cr_expect_gt(out.n, 0);
	out.n = 0;
	msd_rpc_process_tell(&p, msd_span_of("it died"), 120, &out);
	cr_expect_gt(out.n, 0);
	msd_buf_finish(&out);
}

/* Foreign code may write anything into the page. */
Test(rpc, a_page_of_any_bytes_is_bounded)
{
	struct msd_rpc_page page;
	const struct msd_rpc_process p = {.page = &page};
	struct msd_buf out = {0};

	memset(&page, 0xff, sizeof(page));
	page.state = MSD_RPC_PAGE_WRITING + 1;
	msd_rpc_process_tell(&p, msd_span_of("it died"), 0, &out);
	cr_expect_gt(out.n, 0);
	cr_expect_leq(out.n, 64 + MSD_RPC_PAGE_NAME_BYTES);
	msd_buf_finish(&out);
}

Test(rpc, a_long_name_is_cut)
{
	char name[2 * MSD_RPC_PAGE_NAME_BYTES];

	memset(name, 'n', sizeof(name) - 1);
	name[sizeof(name) - 1] = '\0';
	const struct msd_rpc_page page = running(name);
	cr_expect_eq(strlen(page.name), sizeof(page.name) - 1);
}

Test(rpc, a_call_and_an_idle_session_have_their_limits)
{
	const struct msd_limits limits = {.max_run_ms = 400, .idle_ms = 1000};
	struct msd_rpc_page page = running("f");
	struct msd_rpc_process p = {.page = &page};

	cr_expect_eq(msd_rpc_process_look_ms(&limits), 101);
	cr_expect_null(msd_rpc_process_look(&p, &limits, 1000));
	cr_expect_null(msd_rpc_process_look(&p, &limits, 1399));
	cr_expect_not_null(msd_rpc_process_look(&p, &limits, 1400));
	page.n_packets++; /* another call */
	cr_expect_null(msd_rpc_process_look(&p, &limits, 1500));
	msd_rpc_page_set(&page, MSD_RPC_PAGE_IDLE);
	cr_expect_null(msd_rpc_process_look(&p, &limits, 2000));
	cr_expect_null(msd_rpc_process_look(&p, &limits, 2999));
	cr_expect_not_null(msd_rpc_process_look(&p, &limits, 3000));
	const struct msd_limits none = {0};
	cr_expect_null(msd_rpc_process_look(&p, &none, 9000));
	cr_expect_eq(msd_rpc_process_look_ms(&none), 0);
}
