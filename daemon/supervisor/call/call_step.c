#include "daemon/supervisor/call/call_step.h"

#define ENDS MSD_CALL_OVER, 0

const struct msd_call_move msd_call_moves[MSD_CALL_STATE_COUNT][MSD_CALL_EVENT_COUNT] =
	{
		[MSD_CALL_READ] = {[MSD_CALL_ALLOWED] = {MSD_CALL_AUTHORISED,
							 MSD_CALL_RESERVE}},
		[MSD_CALL_AUTHORISED] = {[MSD_CALL_ROOM] = {MSD_CALL_RESERVED,
							    MSD_CALL_FILL},
					 [MSD_CALL_NO_ROOM] = {MSD_CALL_WAITING,
							       MSD_CALL_WAIT},
					 [MSD_CALL_REFUSED] = {ENDS}},
		[MSD_CALL_WAITING] = {[MSD_CALL_ROOM] = {MSD_CALL_RESERVED,
							 MSD_CALL_FILL},
				      [MSD_CALL_ENDED] = {ENDS}},
		[MSD_CALL_RESERVED] = {[MSD_CALL_PART] = {MSD_CALL_FILLING, 0},
				       [MSD_CALL_WHOLE] = {MSD_CALL_QUEUED,
							   MSD_CALL_SUBMIT}},
		[MSD_CALL_FILLING] = {[MSD_CALL_WHOLE] = {MSD_CALL_QUEUED,
							  MSD_CALL_SUBMIT},
				      [MSD_CALL_FULL] = {MSD_CALL_WAITING,
							 MSD_CALL_WAIT},
				      [MSD_CALL_ENDED] = {ENDS}},
};
