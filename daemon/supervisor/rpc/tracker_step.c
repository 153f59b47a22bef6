#include "daemon/supervisor/rpc/tracker_step.h"

#define TO(state, actions)                                                             \
	{                                                                              \
		MSD_TRACKER_##state, (actions), true                                   \
	}
#define AGAIN TO(RESTING, MSD_TRACKER_CLOSE | MSD_TRACKER_REST)
#define LEFT TO(LEFT, MSD_TRACKER_CLOSE)

struct row {
	enum msd_tracker_state next;
	unsigned actions;
	bool is_possible;
};

static const struct row rows[MSD_TRACKER_STATE_COUNT][MSD_TRACKER_EVENT_COUNT] = {
	[MSD_TRACKER_RESTING] = {[MSD_TRACKER_IS_DUE] =
					 TO(CONNECTING, MSD_TRACKER_CONNECT),
				 [MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_CONNECTING] = {[MSD_TRACKER_IS_CONNECTED] =
					    TO(GREETING, MSD_TRACKER_GREET),
				    [MSD_TRACKER_HAS_FAILED] = AGAIN,
				    [MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_GREETING] = {[MSD_TRACKER_HAS_ANSWERED] =
					  TO(TELLING, MSD_TRACKER_TELL),
				  [MSD_TRACKER_HAS_FAILED] = AGAIN,
				  [MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_TELLING] = {[MSD_TRACKER_HAS_ANSWERED] =
					 TO(READY, MSD_TRACKER_LOOK),
				 [MSD_TRACKER_HAS_FAILED] = AGAIN,
				 [MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_PUTTING] = {[MSD_TRACKER_HAS_ANSWERED] =
					 TO(READY, MSD_TRACKER_LOOK),
				 [MSD_TRACKER_HAS_FAILED] = AGAIN,
				 [MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_ASKING] = {[MSD_TRACKER_HAS_ANSWERED] =
					TO(READY, MSD_TRACKER_LOOK),
				[MSD_TRACKER_HAS_FAILED] = AGAIN,
				[MSD_TRACKER_MUST_LEAVE] = LEFT},
	[MSD_TRACKER_READY] = {[MSD_TRACKER_LACKS_PLACE] = TO(PUTTING, MSD_TRACKER_PUT),
			       [MSD_TRACKER_IS_DUE] = TO(ASKING, MSD_TRACKER_ASK),
			       [MSD_TRACKER_HAS_FAILED] = AGAIN,
			       [MSD_TRACKER_MUST_LEAVE] = LEFT},
};

struct msd_tracker_step msd_tracker_step(enum msd_tracker_state state,
					 enum msd_tracker_event event)
{
	const struct row *r = &rows[state][event];

	return r->is_possible ? (struct msd_tracker_step){r->next, r->actions}
			      : (struct msd_tracker_step){state, 0};
}

bool msd_tracker_state_waits(enum msd_tracker_state state)
{
	return state == MSD_TRACKER_GREETING || state == MSD_TRACKER_TELLING ||
	       state == MSD_TRACKER_PUTTING || state == MSD_TRACKER_ASKING;
}

bool msd_tracker_state_is_known(enum msd_tracker_state state)
{
	return state == MSD_TRACKER_PUTTING || state == MSD_TRACKER_ASKING ||
	       state == MSD_TRACKER_READY;
}

uint64_t msd_tracker_delay_ms(uint32_t n_failures, uint32_t chance)
{
	uint64_t most = MSD_TRACKER_LEAST_MS;

	for (uint32_t i = 1; i < n_failures && most < MSD_TRACKER_MOST_MS; i++)
		most *= 2;
	if (most > MSD_TRACKER_MOST_MS)
		most = MSD_TRACKER_MOST_MS;
	return most / 2 + most / 2 * chance / UINT32_MAX;
}
