#ifndef MSD_SUPERVISOR_REQUEST_STEP_H
#define MSD_SUPERVISOR_REQUEST_STEP_H
/*
 * The state machine of a request: it maps an event to the next state and the actions.
 * request.c executes them.
 *
 *   QUEUED --sent--> SENT --response, loss--> OVER
 *      |               |---deadline, forsaken--> ABANDONED --response, loss--> OVER
 *      |               |                         (answered; its slot is kept, for
 *      |               |                         the worker may still write there)
 *      '--settled, cancelled, deadline, client gone--> OVER
 *
 * Each path from QUEUED to OVER has exactly one ANSWER, unless the client goes first;
 * and one RELEASE, on the way into OVER. run_limit.h decides how long a worker may run
 * a request, with or without a client.
 */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

enum msd_req_state {
	MSD_REQ_QUEUED,
	MSD_REQ_SENT,
	MSD_REQ_ABANDONED,
	MSD_REQ_OVER,
	MSD_REQ_STATE_COUNT
};

enum msd_req_event {
	MSD_REQ_IS_SENT,
	MSD_REQ_SETTLED,   /* answered without a worker */
	MSD_REQ_RESPONDED, /* the worker's response was received */
	MSD_REQ_LOST,      /* the worker is gone */
	MSD_REQ_DUE,       /* its deadline has passed */
	MSD_REQ_CANCELLED, /* its client has cancelled it */
	MSD_REQ_ORPHANED,  /* its client is gone */
	MSD_REQ_FORSAKEN,  /* cancelled or orphaned, and it must not run on */
	MSD_REQ_EVENT_COUNT
};

/* Actions, in this order. */
enum msd_req_action {
	MSD_REQ_ANSWER = 1,    /* with the result of the event */
	MSD_REQ_CANCEL = 2,    /* tell the worker and the owner that it is cancelled */
	MSD_REQ_UNAWAITED = 4, /* notify its owner, which may be waiting for its end */
	MSD_REQ_RELEASE = 8,   /* free it and all its resources */
};

struct msd_req_move {
	uint8_t to;
	uint8_t actions;
};

/* The next state for each state and event. An illegal event leads to QUEUED, which no
 * legal event does. */
extern const struct msd_req_move msd_req_moves[MSD_REQ_STATE_COUNT]
					      [MSD_REQ_EVENT_COUNT];

/** True if the event is legal in this state. */
static inline bool msd_req_event_is_legal(enum msd_req_state from, enum msd_req_event e)
{
	return msd_req_moves[from][e].to != MSD_REQ_QUEUED;
}

/**
 * The state and actions that the event leads to. An illegal event is our own bug and
 * aborts the process. Inline, because each call uses it twice.
 */
static inline struct msd_req_move msd_req_step(enum msd_req_state from,
					       enum msd_req_event e)
{
	if (!msd_req_event_is_legal(from, e))
		abort();
	return msd_req_moves[from][e];
}

#endif
