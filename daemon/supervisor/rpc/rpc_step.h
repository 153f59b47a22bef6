#ifndef MSD_SUPERVISOR_RPC_STEP_H
#define MSD_SUPERVISOR_RPC_STEP_H
/*
 * State machine of a connection of TVM's RPC, without clocks or sockets. rpc_conn.c
 * performs the actions that it returns.
 *
 *   HELLO --> WAITING --> RUNNING --> (DYING) --> LINGERING --> CLOSED
 */
#include <stdbool.h>

enum msd_rpc_state {
	MSD_RPC_HELLO,     /* the hello is being read */
	MSD_RPC_WAITING,   /* all places are taken */
	MSD_RPC_RUNNING,   /* its process has the socket */
	MSD_RPC_DYING,     /* the process was killed and has not ended yet */
	MSD_RPC_LINGERING, /* the last answer was sent; the client reads it */
	MSD_RPC_CLOSED,
	MSD_RPC_STATE_COUNT
};

enum msd_rpc_event {
	MSD_RPC_HELLO_IS_GOOD,
	MSD_RPC_HELLO_IS_REFUSED, /* a key without rights */
	MSD_RPC_HELLO_IS_BAD,     /* no hello of TVM's RPC */
	MSD_RPC_PLACE_IS_FREE,    /* and this connection may have it */
	MSD_RPC_IS_DUE,           /* the time of this state is over */
	MSD_RPC_CLIENT_IS_GONE,
	MSD_RPC_MUST_END,  /* by an operator, or because the daemon stops */
	MSD_RPC_HAS_ENDED, /* the process ended by itself, as the client wanted */
	MSD_RPC_HAS_DIED,  /* the process ended otherwise, or was not started */
	MSD_RPC_EVENT_COUNT
};

/* Actions, in the order in which they are performed. */
enum msd_rpc_action {
	MSD_RPC_QUEUE = 1, /* for a place */
	MSD_RPC_START = 2, /* accept the client, take a place, start the process */
	MSD_RPC_KILL = 4,  /* the process */
	MSD_RPC_FREE_PLACE = 8,
	MSD_RPC_REFUSE = 16, /* answer that there is no such server */
	MSD_RPC_TELL = 32,   /* answer by an exception why the session ended */
	MSD_RPC_CLOSE = 64   /* the connection */
};

struct msd_rpc_step {
	enum msd_rpc_state next;
	unsigned actions; /* of enum msd_rpc_action */
};

/** The reaction to @event in @state. An event that cannot occur there changes nothing.
 */
struct msd_rpc_step msd_rpc_step(enum msd_rpc_state state, enum msd_rpc_event event);
/** For `modser clients`. */
const char *msd_rpc_state_word(enum msd_rpc_state state);
/** True if a connection in @state has a process, and takes a place. */
static inline bool msd_rpc_state_has_process(enum msd_rpc_state state)
{
	return state == MSD_RPC_RUNNING || state == MSD_RPC_DYING;
}

#endif
