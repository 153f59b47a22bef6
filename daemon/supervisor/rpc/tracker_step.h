#ifndef MSD_SUPERVISOR_TRACKER_STEP_H
#define MSD_SUPERVISOR_TRACKER_STEP_H
/*
 * State machine of the connection to a tracker of TVM's RPC, without clocks or sockets.
 * tracker.c performs the actions that it returns.
 *
 *   RESTING --> CONNECTING --> GREETING --> TELLING --> READY <--> PUTTING, ASKING
 *
 * Any failure leads to RESTING, from where it connects again.
 */
#include <stdbool.h>
#include <stdint.h>

enum msd_tracker_state {
	MSD_TRACKER_RESTING,    /* it waits for the next attempt */
	MSD_TRACKER_CONNECTING, /* a thread resolves the name, and connects */
	MSD_TRACKER_GREETING,   /* the magic was sent */
	MSD_TRACKER_TELLING,    /* the server was announced */
	MSD_TRACKER_PUTTING,    /* a place was announced */
	MSD_TRACKER_ASKING,     /* it was asked for the keys that are left */
	MSD_TRACKER_READY,      /* nothing is to be said */
	MSD_TRACKER_LEFT,       /* the daemon stops */
	MSD_TRACKER_STATE_COUNT
};

enum msd_tracker_event {
	MSD_TRACKER_IS_DUE, /* it has rested long enough, or must ask */
	MSD_TRACKER_IS_CONNECTED,
	MSD_TRACKER_HAS_ANSWERED, /* as it should */
	MSD_TRACKER_HAS_FAILED,   /* no connection, its end, silence, a wrong answer */
	MSD_TRACKER_LACKS_PLACE,  /* a free place was not announced */
	MSD_TRACKER_MUST_LEAVE,
	MSD_TRACKER_EVENT_COUNT
};

/* Actions, in the order in which they are performed. */
enum msd_tracker_action {
	MSD_TRACKER_CLOSE = 1,   /* the connection, or the attempt */
	MSD_TRACKER_REST = 2,    /* set the time of the next attempt */
	MSD_TRACKER_CONNECT = 4, /* on a thread */
	MSD_TRACKER_GREET = 8,   /* send the magic */
	MSD_TRACKER_TELL = 16,   /* all places must be announced; announce the server */
	MSD_TRACKER_PUT = 32,    /* announce one free place */
	MSD_TRACKER_ASK = 64,    /* for the keys that are left */
	MSD_TRACKER_LOOK = 128   /* for a place to announce; set the time to ask */
};

struct msd_tracker_step {
	enum msd_tracker_state next;
	unsigned actions; /* of enum msd_tracker_action */
};

/** The reaction to @event in @state. An event that cannot occur there changes nothing.
 */
struct msd_tracker_step msd_tracker_step(enum msd_tracker_state state,
					 enum msd_tracker_event event);
/** True if a connection in @state waits for an answer. */
bool msd_tracker_state_waits(enum msd_tracker_state state);
/** True if the tracker knows the server in @state. */
bool msd_tracker_state_is_known(enum msd_tracker_state state);

#define MSD_TRACKER_LEAST_MS 500u /* back-off after the first failure */
#define MSD_TRACKER_MOST_MS 30000u

/**
 * The delay before the next attempt after @n_failures in a row, from half of the
 * back-off to all of it. @chance: a uniformly random number.
 */
uint64_t msd_tracker_delay_ms(uint32_t n_failures, uint32_t chance);

#endif
