#ifndef MSD_SUPERVISOR_CALL_STEP_H
#define MSD_SUPERVISOR_CALL_STEP_H
/*
 * The state machine of a call on its way from its text to the queue of its module,
 * the same for frames and HTTP: it maps an event to the next state and the actions.
 * daemon/supervisor/edge/session/receiving.c executes them.
 *
 *   READ --allowed--> AUTHORISED --room--> RESERVED --whole--> QUEUED
 *                         |                 ^    |               ^
 *                         | no room         |    | part          | whole
 *                         v                 |    v               |
 *                      WAITING --room-------'  FILLING ----------'
 *                         ^                      |
 *                         '---full---------------'
 *
 * AUTHORISED leads to OVER if it is refused, WAITING and FILLING if the call ends by
 * its deadline, its client or its module. FILLING is full if the room of the rest was
 * given back (memory_share.h). From QUEUED on it is a request: SENT and answered by
 * request_step.h, and written by its connection.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum msd_call_state {
	MSD_CALL_READ,       /* its text was read; nothing was done for it */
	MSD_CALL_AUTHORISED, /* a request that its module accepts now */
	MSD_CALL_WAITING,    /* waits for room: for all of it, or the part given back */
	MSD_CALL_RESERVED,   /* has room for its payload and declared outputs */
	MSD_CALL_FILLING,    /* its payload is arriving there */
	MSD_CALL_QUEUED,     /* complete, and its module's */
	MSD_CALL_OVER,       /* refused or ended before that */
	MSD_CALL_STATE_COUNT
};

enum msd_call_event {
	MSD_CALL_ALLOWED, /* its client and its module accept it */
	MSD_CALL_ROOM,    /* all its room is reserved */
	MSD_CALL_NO_ROOM, /* there is none yet */
	MSD_CALL_PART,    /* a part of its payload is still to arrive */
	MSD_CALL_WHOLE,   /* all of it has arrived */
	MSD_CALL_FULL,    /* the rest of its payload has no room any more */
	MSD_CALL_REFUSED, /* it can never have room */
	MSD_CALL_ENDED,   /* it was answered, or its client is gone */
	MSD_CALL_EVENT_COUNT
};

enum msd_call_action {
	MSD_CALL_RESERVE = 1, /* ask for its room */
	MSD_CALL_WAIT = 2,    /* queue for room, behind all other waiters */
	MSD_CALL_FILL = 4,    /* let the frontend put its payload there */
	MSD_CALL_SUBMIT = 8,  /* put it into the queue of its module */
};

struct msd_call_move {
	uint8_t to;
	uint8_t actions;
};

/* The next state for each state and event. An illegal event leads to READ, which no
 * legal event does. */
extern const struct msd_call_move msd_call_moves[MSD_CALL_STATE_COUNT]
						[MSD_CALL_EVENT_COUNT];

/** True if the event is legal in this state. */
static inline bool msd_call_event_is_legal(enum msd_call_state from,
					   enum msd_call_event e)
{
	return msd_call_moves[from][e].to != MSD_CALL_READ;
}

/**
 * The state and actions that the event leads to. An illegal event is our own bug and
 * aborts the process.
 */
static inline struct msd_call_move msd_call_step(enum msd_call_state from,
						 enum msd_call_event e)
{
	if (!msd_call_event_is_legal(from, e))
		abort();
	return msd_call_moves[from][e];
}

#endif
