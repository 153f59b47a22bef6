#include <criterion/criterion.h>
#include <signal.h>

#include "daemon/supervisor/request/request_step.h"

#define REFUSED                                                                        \
	{                                                                              \
		MSD_REQ_STATE_COUNT, 0                                                 \
	}

/* By hand: where each event leads from each state, and what is to be done. */
static const struct msd_req_move cells[MSD_REQ_STATE_COUNT][MSD_REQ_EVENT_COUNT] = {
	[MSD_REQ_QUEUED] =
		{
			[MSD_REQ_IS_SENT] = {MSD_REQ_SENT, 0},
			[MSD_REQ_SETTLED] = {MSD_REQ_OVER,
					     MSD_REQ_ANSWER | MSD_REQ_RELEASE},
			[MSD_REQ_RESPONDED] = REFUSED,
			[MSD_REQ_LOST] = REFUSED,
			[MSD_REQ_DUE] = {MSD_REQ_OVER,
					 MSD_REQ_ANSWER | MSD_REQ_RELEASE},
			[MSD_REQ_CANCELLED] = {MSD_REQ_OVER,
					       MSD_REQ_ANSWER | MSD_REQ_RELEASE},
			[MSD_REQ_ORPHANED] = {MSD_REQ_OVER, MSD_REQ_RELEASE},
			[MSD_REQ_FORSAKEN] = REFUSED,
		},
	[MSD_REQ_SENT] =
		{
			[MSD_REQ_IS_SENT] = REFUSED,
			[MSD_REQ_SETTLED] = REFUSED,
			[MSD_REQ_RESPONDED] = {MSD_REQ_OVER,
					       MSD_REQ_ANSWER | MSD_REQ_RELEASE},
			[MSD_REQ_LOST] = {MSD_REQ_OVER,
					  MSD_REQ_ANSWER | MSD_REQ_RELEASE},
			[MSD_REQ_DUE] = {MSD_REQ_ABANDONED,
					 MSD_REQ_ANSWER | MSD_REQ_CANCEL},
			[MSD_REQ_CANCELLED] = {MSD_REQ_SENT, MSD_REQ_CANCEL},
			[MSD_REQ_ORPHANED] = {MSD_REQ_SENT,
					      MSD_REQ_CANCEL | MSD_REQ_UNAWAITED},
			[MSD_REQ_FORSAKEN] = {MSD_REQ_ABANDONED,
					      MSD_REQ_ANSWER | MSD_REQ_CANCEL |
						      MSD_REQ_UNAWAITED},
		},
	[MSD_REQ_ABANDONED] =
		{
			[MSD_REQ_IS_SENT] = REFUSED,
			[MSD_REQ_SETTLED] = REFUSED,
			[MSD_REQ_RESPONDED] = {MSD_REQ_OVER, MSD_REQ_RELEASE},
			[MSD_REQ_LOST] = {MSD_REQ_OVER, MSD_REQ_RELEASE},
			[MSD_REQ_DUE] = {MSD_REQ_ABANDONED, 0},
			[MSD_REQ_CANCELLED] = REFUSED,
			[MSD_REQ_ORPHANED] = REFUSED,
			[MSD_REQ_FORSAKEN] = REFUSED,
		},
	[MSD_REQ_OVER] = {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED,
			  REFUSED},
};

Test(request_step, each_state_does_with_each_event_what_the_table_says)
{
	for (int s = 0; s < MSD_REQ_STATE_COUNT; s++) {
		for (int e = 0; e < MSD_REQ_EVENT_COUNT; e++) {
			const struct msd_req_move *cell = &cells[s][e];
			const bool is_legal = cell->to != MSD_REQ_STATE_COUNT;
			cr_assert_eq(msd_req_event_is_legal((enum msd_req_state)s,
							    (enum msd_req_event)e),
				     is_legal, "state %d, event %d", s, e);
			if (!is_legal)
				continue;
			const struct msd_req_move move = msd_req_step(
				(enum msd_req_state)s, (enum msd_req_event)e);
			cr_expect_eq(move.to, cell->to, "state %d, event %d", s, e);
			cr_expect_eq(move.actions, cell->actions, "state %d, event %d",
				     s, e);
		}
	}
}

/* Every way of at most @left more events. @answers so far. */
static void expect_one_answer(enum msd_req_state state, unsigned answers,
			      bool was_orphaned, unsigned left)
{
	if (state == MSD_REQ_OVER) {
		cr_expect(answers == 1 || (was_orphaned && answers == 0), "%u answers",
			  answers);
	}
	for (int e = 0; left > 0 && e < MSD_REQ_EVENT_COUNT; e++) {
		/* A client that is gone, or was answered, asks for nothing. */
		if (!msd_req_event_is_legal(state, (enum msd_req_event)e) ||
		    ((was_orphaned || answers > 0) &&
		     (e == MSD_REQ_ORPHANED || e == MSD_REQ_CANCELLED ||
		      e == MSD_REQ_FORSAKEN)))
			continue;
		const struct msd_req_move move =
			msd_req_step(state, (enum msd_req_event)e);
		const bool is_orphan = was_orphaned || e == MSD_REQ_ORPHANED;
		const unsigned more =
			(move.actions & MSD_REQ_ANSWER) != 0 && !is_orphan ? 1 : 0;
		cr_assert_eq(move.to == MSD_REQ_OVER,
			     (move.actions & MSD_REQ_RELEASE) != 0);
		expect_one_answer((enum msd_req_state)move.to, answers + more,
				  is_orphan, left - 1);
	}
}

Test(request_step, every_way_to_the_end_answers_once_and_releases_once)
{
	expect_one_answer(MSD_REQ_QUEUED, 0, false, 7);
}

Test(request_step, an_illegal_event_ends_the_process, .signal = SIGABRT)
{
	(void)msd_req_step(MSD_REQ_QUEUED, MSD_REQ_RESPONDED);
}
