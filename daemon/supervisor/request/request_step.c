#include "daemon/supervisor/request/request_step.h"

#include <stdlib.h>

#define ENDS MSD_REQ_OVER, MSD_REQ_RELEASE
#define ENDS_ANSWERED MSD_REQ_OVER, MSD_REQ_ANSWER | MSD_REQ_RELEASE
#define IS_ABANDONED MSD_REQ_ABANDONED, MSD_REQ_ANSWER | MSD_REQ_CANCEL | MSD_REQ_GRACE

/* What is not here is not legal: its next state would be QUEUED, where nothing leads.
 */
static const struct msd_req_move moves[MSD_REQ_STATE_COUNT][MSD_REQ_EVENT_COUNT] = {
	[MSD_REQ_QUEUED] = {[MSD_REQ_IS_SENT] = {MSD_REQ_SENT, 0},
			    [MSD_REQ_SETTLED] = {ENDS_ANSWERED},
			    [MSD_REQ_DUE] = {ENDS_ANSWERED},
			    [MSD_REQ_CANCELLED] = {ENDS_ANSWERED},
			    [MSD_REQ_ORPHANED] = {ENDS}},
	[MSD_REQ_SENT] = {[MSD_REQ_RESPONDED] = {ENDS_ANSWERED},
			  [MSD_REQ_LOST] = {ENDS_ANSWERED},
			  [MSD_REQ_DUE] = {IS_ABANDONED},
			  [MSD_REQ_OVERRUNS] = {IS_ABANDONED},
			  [MSD_REQ_CANCELLED] = {MSD_REQ_SENT, MSD_REQ_CANCEL},
			  [MSD_REQ_ORPHANED] = {MSD_REQ_SENT,
						MSD_REQ_CANCEL | MSD_REQ_UNAWAITED}},
	[MSD_REQ_ABANDONED] = {[MSD_REQ_RESPONDED] = {ENDS},
			       [MSD_REQ_LOST] = {ENDS},
			       [MSD_REQ_DUE] = {MSD_REQ_ABANDONED, MSD_REQ_GRACE},
			       [MSD_REQ_OVERRUNS] = {MSD_REQ_ABANDONED, MSD_REQ_KILL}},
};

bool msd_req_may_come(enum msd_req_state from, enum msd_req_event e)
{
	return moves[from][e].to != MSD_REQ_QUEUED;
}

struct msd_req_move msd_req_step(enum msd_req_state from, enum msd_req_event e)
{
	const struct msd_req_move move = moves[from][e];

	if (move.to == MSD_REQ_QUEUED)
		abort(); /* our own shell's mistake */
	return move;
}
