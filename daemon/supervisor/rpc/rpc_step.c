#include "daemon/supervisor/rpc/rpc_step.h"

#define TO(state, actions)                                                             \
	{                                                                              \
		MSD_RPC_##state, (actions), true                                       \
	}

struct row {
	enum msd_rpc_state next;
	unsigned actions;
	bool is_possible;
};

static const struct row rows[MSD_RPC_STATE_COUNT][MSD_RPC_EVENT_COUNT] = {
	[MSD_RPC_HELLO] = {[MSD_RPC_HELLO_IS_GOOD] = TO(WAITING, MSD_RPC_QUEUE),
			   [MSD_RPC_HELLO_IS_REFUSED] = TO(LINGERING, MSD_RPC_REFUSE),
			   [MSD_RPC_HELLO_IS_BAD] = TO(CLOSED, MSD_RPC_CLOSE),
			   [MSD_RPC_IS_DUE] = TO(CLOSED, MSD_RPC_CLOSE),
			   [MSD_RPC_CLIENT_IS_GONE] = TO(CLOSED, MSD_RPC_CLOSE),
			   [MSD_RPC_MUST_END] = TO(CLOSED, MSD_RPC_CLOSE)},
	[MSD_RPC_WAITING] = {[MSD_RPC_PLACE_IS_FREE] = TO(RUNNING, MSD_RPC_START),
			     [MSD_RPC_IS_DUE] = TO(LINGERING, MSD_RPC_REFUSE),
			     [MSD_RPC_CLIENT_IS_GONE] = TO(CLOSED, MSD_RPC_CLOSE),
			     [MSD_RPC_MUST_END] = TO(LINGERING, MSD_RPC_REFUSE)},
	[MSD_RPC_RUNNING] = {[MSD_RPC_IS_DUE] = TO(DYING, MSD_RPC_KILL),
			     [MSD_RPC_MUST_END] = TO(DYING, MSD_RPC_KILL),
			     [MSD_RPC_HAS_ENDED] =
				     TO(CLOSED, MSD_RPC_FREE_PLACE | MSD_RPC_CLOSE),
			     [MSD_RPC_HAS_DIED] =
				     TO(LINGERING, MSD_RPC_FREE_PLACE | MSD_RPC_TELL)},
	[MSD_RPC_DYING] = {[MSD_RPC_HAS_ENDED] =
				   TO(CLOSED, MSD_RPC_FREE_PLACE | MSD_RPC_CLOSE),
			   [MSD_RPC_HAS_DIED] =
				   TO(LINGERING, MSD_RPC_FREE_PLACE | MSD_RPC_TELL)},
	[MSD_RPC_LINGERING] = {[MSD_RPC_IS_DUE] = TO(CLOSED, MSD_RPC_CLOSE),
			       [MSD_RPC_CLIENT_IS_GONE] = TO(CLOSED, MSD_RPC_CLOSE),
			       [MSD_RPC_MUST_END] = TO(CLOSED, MSD_RPC_CLOSE)},
};

struct msd_rpc_step msd_rpc_step(enum msd_rpc_state state, enum msd_rpc_event event)
{
	const struct row *r = &rows[state][event];

	return r->is_possible ? (struct msd_rpc_step){r->next, r->actions}
			      : (struct msd_rpc_step){state, 0};
}

const char *msd_rpc_state_word(enum msd_rpc_state state)
{
	static const char *const words[MSD_RPC_STATE_COUNT] = {
		"rpc hello",   "rpc waiting for a place",
		"rpc running", "rpc ending",
		"rpc ended",   "closed"};

	return words[state];
}
