#include "daemon/supervisor/module/life/load_step.h"

#include <stdlib.h>

#define ON(event, to, actions) [MSD_LOAD_##event] = {MSD_LOAD_##to, actions}
#define IS_OVER ON(OVER, ENDED, MSD_LOAD_ANSWER)
/* The store has not recorded it, or never will. */
#define MAY_FAIL ON(BAD, ENDED, MSD_LOAD_ANSWER), ON(GIVEN_UP, ENDED, 0), IS_OVER

/* An illegal event leads to READING, which no legal event does. */
static const struct msd_load_move moves[MSD_LOAD_STATE_COUNT][MSD_LOAD_EVENT_COUNT] = {
	[MSD_LOAD_READING] = {ON(HAVE, OPENING, MSD_LOAD_START), MAY_FAIL},
	[MSD_LOAD_READING_KEPT] = {ON(HAVE, WRITING, MSD_LOAD_WRITE), MAY_FAIL},
	[MSD_LOAD_FETCHING] = {ON(HAVE, WRITING, MSD_LOAD_WRITE), MAY_FAIL},
	[MSD_LOAD_STORED] = {ON(HAVE, TRYING, MSD_LOAD_START)},
	[MSD_LOAD_WRITING] = {ON(WRITTEN, TRYING, MSD_LOAD_START), MAY_FAIL},
	[MSD_LOAD_OPENING] = {ON(GOOD, LOADED, MSD_LOAD_ANSWER), MAY_FAIL},
	[MSD_LOAD_TRYING] = {ON(GOOD, LOADED, MSD_LOAD_TELL),
			     ON(BAD, ENDED, MSD_LOAD_TELL | MSD_LOAD_ANSWER),
			     ON(GIVEN_UP, ENDED, MSD_LOAD_TELL), IS_OVER},
	[MSD_LOAD_LOADED] = {ON(GOOD, LOADED, MSD_LOAD_ANSWER),
			     ON(BAD, LOADED, MSD_LOAD_ANSWER),
			     ON(SLEPT, LOOKING, MSD_LOAD_LOOK),
			     ON(CALLED, LOADED, MSD_LOAD_WAKE), IS_OVER},
	/* It may be called, and sleep again, before the store answers. */
	[MSD_LOAD_LOOKING] = {ON(GOOD, LOOKING, MSD_LOAD_ANSWER),
			      ON(BAD, LOOKING, MSD_LOAD_ANSWER), ON(SLEPT, LOOKING, 0),
			      ON(CALLED, LOOKING, MSD_LOAD_WAKE),
			      ON(COPY, RELEASED, MSD_LOAD_RELEASE),
			      ON(NO_COPY, LOADED, 0), IS_OVER},
	[MSD_LOAD_RELEASED] = {ON(CALLED, BRINGING, MSD_LOAD_BRING), IS_OVER},
	[MSD_LOAD_BRINGING] = {ON(CALLED, BRINGING, 0), ON(NO_COPY, RELEASED, 0),
			       ON(BROUGHT, LOADED, MSD_LOAD_WAKE), IS_OVER},
	[MSD_LOAD_ENDED] = {IS_OVER},
};

bool msd_load_event_is_legal(enum msd_load_state from, enum msd_load_event e)
{
	return moves[from][e].to != MSD_LOAD_READING;
}

struct msd_load_move msd_load_step(enum msd_load_state from, enum msd_load_event e)
{
	if (!msd_load_event_is_legal(from, e))
		abort();
	return moves[from][e];
}
