#include <criterion/criterion.h>
#include <signal.h>

#include "daemon/supervisor/module/life/load_step.h"

#define REFUSED                                                                        \
	{                                                                              \
		MSD_LOAD_STATE_COUNT, 0                                                \
	}

/* By hand: where each event leads from each state, and what is to be done. */
static const struct msd_load_move cells[MSD_LOAD_STATE_COUNT][MSD_LOAD_EVENT_COUNT] = {
	[MSD_LOAD_READING] = {[MSD_LOAD_HAVE] = {MSD_LOAD_OPENING, MSD_LOAD_START},
			      [MSD_LOAD_WRITTEN] = REFUSED,
			      [MSD_LOAD_GOOD] = REFUSED,
			      [MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0},
			      [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_SLEPT] = REFUSED,
			      [MSD_LOAD_CALLED] = REFUSED,
			      [MSD_LOAD_COPY] = REFUSED,
			      [MSD_LOAD_NO_COPY] = REFUSED,
			      [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_READING_KEPT] = {[MSD_LOAD_HAVE] = {MSD_LOAD_WRITING, MSD_LOAD_WRITE},
				   [MSD_LOAD_WRITTEN] = REFUSED,
				   [MSD_LOAD_GOOD] = REFUSED,
				   [MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
				   [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0},
				   [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
				   [MSD_LOAD_SLEPT] = REFUSED,
				   [MSD_LOAD_CALLED] = REFUSED,
				   [MSD_LOAD_COPY] = REFUSED,
				   [MSD_LOAD_NO_COPY] = REFUSED,
				   [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_FETCHING] = {[MSD_LOAD_HAVE] = {MSD_LOAD_WRITING, MSD_LOAD_WRITE},
			       [MSD_LOAD_WRITTEN] = REFUSED,
			       [MSD_LOAD_GOOD] = REFUSED,
			       [MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			       [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0},
			       [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			       [MSD_LOAD_SLEPT] = REFUSED,
			       [MSD_LOAD_CALLED] = REFUSED,
			       [MSD_LOAD_COPY] = REFUSED,
			       [MSD_LOAD_NO_COPY] = REFUSED,
			       [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_STORED] = {[MSD_LOAD_HAVE] = {MSD_LOAD_TRYING, MSD_LOAD_START},
			     [MSD_LOAD_WRITTEN] = REFUSED,
			     [MSD_LOAD_GOOD] = REFUSED,
			     [MSD_LOAD_BAD] = REFUSED,
			     [MSD_LOAD_GIVEN_UP] = REFUSED,
			     [MSD_LOAD_OVER] = REFUSED,
			     [MSD_LOAD_SLEPT] = REFUSED,
			     [MSD_LOAD_CALLED] = REFUSED,
			     [MSD_LOAD_COPY] = REFUSED,
			     [MSD_LOAD_NO_COPY] = REFUSED,
			     [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_WRITING] = {[MSD_LOAD_HAVE] = REFUSED,
			      [MSD_LOAD_WRITTEN] = {MSD_LOAD_TRYING, MSD_LOAD_START},
			      [MSD_LOAD_GOOD] = REFUSED,
			      [MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0},
			      [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_SLEPT] = REFUSED,
			      [MSD_LOAD_CALLED] = REFUSED,
			      [MSD_LOAD_COPY] = REFUSED,
			      [MSD_LOAD_NO_COPY] = REFUSED,
			      [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_OPENING] = {[MSD_LOAD_HAVE] = REFUSED,
			      [MSD_LOAD_WRITTEN] = REFUSED,
			      [MSD_LOAD_GOOD] = {MSD_LOAD_LOADED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0},
			      [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_SLEPT] = REFUSED,
			      [MSD_LOAD_CALLED] = REFUSED,
			      [MSD_LOAD_COPY] = REFUSED,
			      [MSD_LOAD_NO_COPY] = REFUSED,
			      [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_TRYING] = {[MSD_LOAD_HAVE] = REFUSED,
			     [MSD_LOAD_WRITTEN] = REFUSED,
			     [MSD_LOAD_GOOD] = {MSD_LOAD_LOADED, MSD_LOAD_TELL},
			     [MSD_LOAD_BAD] = {MSD_LOAD_ENDED,
					       MSD_LOAD_TELL | MSD_LOAD_ANSWER},
			     [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, MSD_LOAD_TELL},
			     [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			     [MSD_LOAD_SLEPT] = REFUSED,
			     [MSD_LOAD_CALLED] = REFUSED,
			     [MSD_LOAD_COPY] = REFUSED,
			     [MSD_LOAD_NO_COPY] = REFUSED,
			     [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_LOADED] = {[MSD_LOAD_HAVE] = REFUSED,
			     [MSD_LOAD_WRITTEN] = REFUSED,
			     [MSD_LOAD_GOOD] = {MSD_LOAD_LOADED, MSD_LOAD_ANSWER},
			     [MSD_LOAD_BAD] = {MSD_LOAD_LOADED, MSD_LOAD_ANSWER},
			     [MSD_LOAD_GIVEN_UP] = REFUSED,
			     [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			     [MSD_LOAD_SLEPT] = {MSD_LOAD_LOOKING, MSD_LOAD_LOOK},
			     [MSD_LOAD_CALLED] = {MSD_LOAD_LOADED, MSD_LOAD_WAKE},
			     [MSD_LOAD_COPY] = REFUSED,
			     [MSD_LOAD_NO_COPY] = REFUSED,
			     [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_LOOKING] = {[MSD_LOAD_HAVE] = REFUSED,
			      [MSD_LOAD_WRITTEN] = REFUSED,
			      [MSD_LOAD_GOOD] = {MSD_LOAD_LOOKING, MSD_LOAD_ANSWER},
			      [MSD_LOAD_BAD] = {MSD_LOAD_LOOKING, MSD_LOAD_ANSWER},
			      [MSD_LOAD_GIVEN_UP] = REFUSED,
			      [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			      [MSD_LOAD_SLEPT] = {MSD_LOAD_LOOKING, 0},
			      [MSD_LOAD_CALLED] = {MSD_LOAD_LOOKING, MSD_LOAD_WAKE},
			      [MSD_LOAD_COPY] = {MSD_LOAD_RELEASED, MSD_LOAD_RELEASE},
			      [MSD_LOAD_NO_COPY] = {MSD_LOAD_LOADED, 0},
			      [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_RELEASED] = {[MSD_LOAD_HAVE] = REFUSED,
			       [MSD_LOAD_WRITTEN] = REFUSED,
			       [MSD_LOAD_GOOD] = REFUSED,
			       [MSD_LOAD_BAD] = REFUSED,
			       [MSD_LOAD_GIVEN_UP] = REFUSED,
			       [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			       [MSD_LOAD_SLEPT] = REFUSED,
			       [MSD_LOAD_CALLED] = {MSD_LOAD_BRINGING, MSD_LOAD_BRING},
			       [MSD_LOAD_COPY] = REFUSED,
			       [MSD_LOAD_NO_COPY] = REFUSED,
			       [MSD_LOAD_BROUGHT] = REFUSED},
	[MSD_LOAD_BRINGING] = {[MSD_LOAD_HAVE] = REFUSED,
			       [MSD_LOAD_WRITTEN] = REFUSED,
			       [MSD_LOAD_GOOD] = REFUSED,
			       [MSD_LOAD_BAD] = REFUSED,
			       [MSD_LOAD_GIVEN_UP] = REFUSED,
			       [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			       [MSD_LOAD_SLEPT] = REFUSED,
			       [MSD_LOAD_CALLED] = {MSD_LOAD_BRINGING, 0},
			       [MSD_LOAD_COPY] = REFUSED,
			       [MSD_LOAD_NO_COPY] = {MSD_LOAD_RELEASED, 0},
			       [MSD_LOAD_BROUGHT] = {MSD_LOAD_LOADED, MSD_LOAD_WAKE}},
	[MSD_LOAD_ENDED] = {[MSD_LOAD_HAVE] = REFUSED,
			    [MSD_LOAD_WRITTEN] = REFUSED,
			    [MSD_LOAD_GOOD] = REFUSED,
			    [MSD_LOAD_BAD] = REFUSED,
			    [MSD_LOAD_GIVEN_UP] = REFUSED,
			    [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},
			    [MSD_LOAD_SLEPT] = REFUSED,
			    [MSD_LOAD_CALLED] = REFUSED,
			    [MSD_LOAD_COPY] = REFUSED,
			    [MSD_LOAD_NO_COPY] = REFUSED,
			    [MSD_LOAD_BROUGHT] = REFUSED},
};

Test(load_step, each_state_does_with_each_event_what_the_table_says)
{
	for (int s = 0; s < MSD_LOAD_STATE_COUNT; s++) {
		for (int e = 0; e < MSD_LOAD_EVENT_COUNT; e++) {
			const struct msd_load_move *cell = &cells[s][e];
			const bool is_legal = cell->to != MSD_LOAD_STATE_COUNT;
			cr_assert_eq(msd_load_event_is_legal((enum msd_load_state)s,
							     (enum msd_load_event)e),
				     is_legal, "state %d, event %d", s, e);
			if (!is_legal)
				continue;
			const struct msd_load_move move = msd_load_step(
				(enum msd_load_state)s, (enum msd_load_event)e);
			cr_expect_eq(move.to, cell->to, "state %d, event %d", s, e);
			cr_expect_eq(move.actions, cell->actions, "state %d, event %d",
				     s, e);
		}
	}
}

static bool has(struct msd_load_move move, enum msd_load_action action)
{
	return (move.actions & action) != 0;
}

/* A path of events from the begin of a load. */
struct path {
	enum msd_load_state state;
	unsigned n_told;
	bool has_started, is_released;
};

static struct path go(struct path at, struct msd_load_move move)
{
	if (has(move, MSD_LOAD_TELL))
		cr_assert_eq(at.state, MSD_LOAD_TRYING, "only a recorded candidate");
	if (has(move, MSD_LOAD_WAKE))
		cr_assert(!at.is_released || at.state == MSD_LOAD_BRINGING);
	if (has(move, MSD_LOAD_START))
		cr_assert_not(at.has_started, "once");
	at.n_told += has(move, MSD_LOAD_TELL);
	at.has_started = at.has_started || has(move, MSD_LOAD_START);
	at.is_released = (at.is_released || has(move, MSD_LOAD_RELEASE)) &&
			 !has(move, MSD_LOAD_WAKE);
	at.state = (enum msd_load_state)move.to;
	cr_assert_leq(at.n_told, 1);
	return at;
}

/* Every path of at most @left more events. */
static void expect_order(struct path at, unsigned left)
{
	for (int e = 0; left > 0 && e < MSD_LOAD_EVENT_COUNT; e++) {
		if (msd_load_event_is_legal(at.state, (enum msd_load_event)e)) {
			expect_order(
				go(at, msd_load_step(at.state, (enum msd_load_event)e)),
				left - 1);
		}
	}
}

Test(load_step, every_path_tells_the_store_once_and_wakes_only_with_bytes)
{
	for (int s = MSD_LOAD_READING; s <= MSD_LOAD_STORED; s++)
		expect_order((struct path){.state = (enum msd_load_state)s}, 9);
}

Test(load_step, an_illegal_event_ends_the_process, .signal = SIGABRT)
{
	(void)msd_load_step(MSD_LOAD_READING, MSD_LOAD_WRITTEN);
}
