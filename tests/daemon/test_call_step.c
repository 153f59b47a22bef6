#include <criterion/criterion.h>
#include <signal.h>

#include "daemon/supervisor/call/call_step.h"

#define REFUSED                                                                        \
	{                                                                              \
		MSD_CALL_STATE_COUNT, 0                                                \
	}

/* By hand: where each event leads from each state, and what is to be done. */
static const struct msd_call_move cells[MSD_CALL_STATE_COUNT][MSD_CALL_EVENT_COUNT] = {
	[MSD_CALL_READ] = {[MSD_CALL_ALLOWED] = {MSD_CALL_AUTHORISED, MSD_CALL_RESERVE},
			   [MSD_CALL_ROOM] = REFUSED,
			   [MSD_CALL_NO_ROOM] = REFUSED,
			   [MSD_CALL_PART] = REFUSED,
			   [MSD_CALL_WHOLE] = REFUSED,
			   [MSD_CALL_FULL] = REFUSED,
			   [MSD_CALL_REFUSED] = REFUSED,
			   [MSD_CALL_ENDED] = REFUSED},
	[MSD_CALL_AUTHORISED] = {[MSD_CALL_ALLOWED] = REFUSED,
				 [MSD_CALL_ROOM] = {MSD_CALL_RESERVED, MSD_CALL_FILL},
				 [MSD_CALL_NO_ROOM] = {MSD_CALL_WAITING, MSD_CALL_WAIT},
				 [MSD_CALL_PART] = REFUSED,
				 [MSD_CALL_WHOLE] = REFUSED,
				 [MSD_CALL_FULL] = REFUSED,
				 [MSD_CALL_REFUSED] = {MSD_CALL_OVER, 0},
				 [MSD_CALL_ENDED] = REFUSED},
	[MSD_CALL_WAITING] = {[MSD_CALL_ALLOWED] = REFUSED,
			      [MSD_CALL_ROOM] = {MSD_CALL_RESERVED, MSD_CALL_FILL},
			      [MSD_CALL_NO_ROOM] = REFUSED,
			      [MSD_CALL_PART] = REFUSED,
			      [MSD_CALL_WHOLE] = REFUSED,
			      [MSD_CALL_FULL] = REFUSED,
			      [MSD_CALL_REFUSED] = REFUSED,
			      [MSD_CALL_ENDED] = {MSD_CALL_OVER, 0}},
	[MSD_CALL_RESERVED] = {[MSD_CALL_ALLOWED] = REFUSED,
			       [MSD_CALL_ROOM] = REFUSED,
			       [MSD_CALL_NO_ROOM] = REFUSED,
			       [MSD_CALL_PART] = {MSD_CALL_FILLING, 0},
			       [MSD_CALL_WHOLE] = {MSD_CALL_QUEUED, MSD_CALL_SUBMIT},
			       [MSD_CALL_FULL] = REFUSED,
			       [MSD_CALL_REFUSED] = REFUSED,
			       [MSD_CALL_ENDED] = REFUSED},
	[MSD_CALL_FILLING] = {[MSD_CALL_ALLOWED] = REFUSED,
			      [MSD_CALL_ROOM] = REFUSED,
			      [MSD_CALL_NO_ROOM] = REFUSED,
			      [MSD_CALL_PART] = REFUSED,
			      [MSD_CALL_WHOLE] = {MSD_CALL_QUEUED, MSD_CALL_SUBMIT},
			      [MSD_CALL_FULL] = {MSD_CALL_WAITING, MSD_CALL_WAIT},
			      [MSD_CALL_REFUSED] = REFUSED,
			      [MSD_CALL_ENDED] = {MSD_CALL_OVER, 0}},
	[MSD_CALL_QUEUED] = {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED,
			     REFUSED, REFUSED},
	[MSD_CALL_OVER] = {REFUSED, REFUSED, REFUSED, REFUSED, REFUSED, REFUSED,
			   REFUSED, REFUSED},
};

Test(call_step, each_state_does_with_each_event_what_the_table_says)
{
	for (int s = 0; s < MSD_CALL_STATE_COUNT; s++) {
		for (int e = 0; e < MSD_CALL_EVENT_COUNT; e++) {
			const struct msd_call_move *cell = &cells[s][e];
			const bool is_legal = cell->to != MSD_CALL_STATE_COUNT;
			cr_assert_eq(msd_call_event_is_legal((enum msd_call_state)s,
							     (enum msd_call_event)e),
				     is_legal, "state %d, event %d", s, e);
			if (!is_legal)
				continue;
			const struct msd_call_move move = msd_call_step(
				(enum msd_call_state)s, (enum msd_call_event)e);
			cr_expect_eq(move.to, cell->to, "state %d, event %d", s, e);
			cr_expect_eq(move.actions, cell->actions, "state %d, event %d",
				     s, e);
		}
	}
}

static bool has(struct msd_call_move move, enum msd_call_action action)
{
	return (move.actions & action) != 0;
}

/* Every way of at most @left more events; it has waited @waits times for room, which it
 * got @rooms times. */
static void expect_one_end(enum msd_call_state state, unsigned waits, unsigned rooms,
			   unsigned left)
{
	for (int e = 0; left > 0 && e < MSD_CALL_EVENT_COUNT; e++) {
		if (!msd_call_event_is_legal(state, (enum msd_call_event)e))
			continue;
		const struct msd_call_move move =
			msd_call_step(state, (enum msd_call_event)e);
		cr_assert_eq(has(move, MSD_CALL_SUBMIT), move.to == MSD_CALL_QUEUED);
		cr_assert_eq(has(move, MSD_CALL_WAIT), move.to == MSD_CALL_WAITING);
		cr_assert_eq(has(move, MSD_CALL_FILL), move.to == MSD_CALL_RESERVED);
		if (has(move, MSD_CALL_SUBMIT))
			cr_assert(rooms > 0 && rooms >= waits);
		expect_one_end((enum msd_call_state)move.to,
			       waits + has(move, MSD_CALL_WAIT),
			       rooms + has(move, MSD_CALL_FILL), left - 1);
	}
}

Test(call_step, no_way_submits_a_call_without_room)
{
	expect_one_end(MSD_CALL_READ, 0, 0, 9);
}

Test(call_step, an_illegal_event_ends_the_process, .signal = SIGABRT)
{
	(void)msd_call_step(MSD_CALL_READ, MSD_CALL_WHOLE);
}
