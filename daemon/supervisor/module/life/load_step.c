#include "daemon/supervisor/module/life/load_step.h"

#define IS_OVER [MSD_LOAD_OVER] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER}
/* The store has not recorded it, or never will. */
#define MAY_FAIL                                                                       \
	[MSD_LOAD_BAD] = {MSD_LOAD_ENDED, MSD_LOAD_ANSWER},                            \
	[MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED, 0}, IS_OVER

const struct msd_load_move msd_load_moves[MSD_LOAD_STATE_COUNT][MSD_LOAD_EVENT_COUNT] =
	{
		[MSD_LOAD_READING] = {[MSD_LOAD_HAVE] = {MSD_LOAD_OPENING,
							 MSD_LOAD_START},
				      MAY_FAIL},
		[MSD_LOAD_READING_KEPT] = {[MSD_LOAD_HAVE] = {MSD_LOAD_WRITING,
							      MSD_LOAD_WRITE},
					   MAY_FAIL},
		[MSD_LOAD_FETCHING] = {[MSD_LOAD_HAVE] = {MSD_LOAD_WRITING,
							  MSD_LOAD_WRITE},
				       MAY_FAIL},
		[MSD_LOAD_STORED] = {[MSD_LOAD_HAVE] = {MSD_LOAD_TRYING,
							MSD_LOAD_START}},
		[MSD_LOAD_WRITING] = {[MSD_LOAD_WRITTEN] = {MSD_LOAD_TRYING,
							    MSD_LOAD_START},
				      MAY_FAIL},
		[MSD_LOAD_OPENING] = {[MSD_LOAD_GOOD] = {MSD_LOAD_LOADED,
							 MSD_LOAD_ANSWER},
				      MAY_FAIL},
		[MSD_LOAD_TRYING] = {[MSD_LOAD_GOOD] = {MSD_LOAD_LOADED, MSD_LOAD_TELL},
				     [MSD_LOAD_BAD] = {MSD_LOAD_ENDED,
						       MSD_LOAD_TELL | MSD_LOAD_ANSWER},
				     [MSD_LOAD_GIVEN_UP] = {MSD_LOAD_ENDED,
							    MSD_LOAD_TELL},
				     IS_OVER},
		[MSD_LOAD_LOADED] =
			{[MSD_LOAD_GOOD] = {MSD_LOAD_LOADED, MSD_LOAD_ANSWER},
			 [MSD_LOAD_BAD] = {MSD_LOAD_LOADED, MSD_LOAD_ANSWER},
			 [MSD_LOAD_SLEPT] = {MSD_LOAD_LOOKING, MSD_LOAD_LOOK},
			 [MSD_LOAD_CALLED] = {MSD_LOAD_LOADED, MSD_LOAD_WAKE},
			 IS_OVER},
		/* It may be called, and sleep again, before the store answers. */
		[MSD_LOAD_LOOKING] =
			{[MSD_LOAD_GOOD] = {MSD_LOAD_LOOKING, MSD_LOAD_ANSWER},
			 [MSD_LOAD_BAD] = {MSD_LOAD_LOOKING, MSD_LOAD_ANSWER},
			 [MSD_LOAD_SLEPT] = {MSD_LOAD_LOOKING, 0},
			 [MSD_LOAD_CALLED] = {MSD_LOAD_LOOKING, MSD_LOAD_WAKE},
			 [MSD_LOAD_COPY] = {MSD_LOAD_RELEASED, MSD_LOAD_RELEASE},
			 [MSD_LOAD_NO_COPY] = {MSD_LOAD_LOADED, 0},
			 IS_OVER},
		[MSD_LOAD_RELEASED] = {[MSD_LOAD_CALLED] = {MSD_LOAD_BRINGING,
							    MSD_LOAD_BRING},
				       IS_OVER},
		[MSD_LOAD_BRINGING] = {[MSD_LOAD_CALLED] = {MSD_LOAD_BRINGING, 0},
				       [MSD_LOAD_BROUGHT] = {MSD_LOAD_LOADED,
							     MSD_LOAD_WAKE},
				       [MSD_LOAD_NO_COPY] = {MSD_LOAD_RELEASED, 0},
				       IS_OVER},
		[MSD_LOAD_ENDED] = {IS_OVER},
};
