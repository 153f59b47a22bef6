#ifndef MSD_SUPERVISOR_REQUEST_STEP_H
#define MSD_SUPERVISOR_REQUEST_STEP_H
/*
 * The decisions of a request's life: an event goes in, the next state and what is to be
 * done come out. request.c does it.
 *
 *   QUEUED --sent--> SENT --response, loss--> OVER
 *      |               |---deadline, forsaken--> ABANDONED --response, loss--> OVER
 *      |               |                         (answered; its slot is kept, for
 *      |               |                         the worker may still write there)
 *      '--settled, cancelled, deadline, client gone--> OVER
 *
 * Exactly one ANSWER on every way from QUEUED to OVER, unless the client goes first;
 * RELEASE once, on the way into OVER. How long a worker may run what nobody waits for,
 * or anything, is run_step.h's to say.
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
	MSD_REQ_RESPONDED, /* the worker's response has come */
	MSD_REQ_LOST,      /* the worker is gone */
	MSD_REQ_DUE,       /* its deadline is over */
	MSD_REQ_CANCELLED, /* its client wants it no more */
	MSD_REQ_ORPHANED,  /* its client is gone */
	MSD_REQ_FORSAKEN,  /* one of these two, and it is not to run for nobody */
	MSD_REQ_EVENT_COUNT
};

/* What is to be done, in this order. */
enum msd_req_action {
	MSD_REQ_ANSWER = 1, /* with what the event brings */
	MSD_REQ_CANCEL = 2, /* tell the worker, and its owner, that nobody wants it */
	MSD_REQ_UNAWAITED = 4, /* its owner may be waiting for its end, and is told */
	MSD_REQ_RELEASE = 8,   /* free it and all that it holds */
};

struct msd_req_move {
	uint8_t to;
	uint8_t actions;
};

/* Where each event leads from each state; to QUEUED, where nothing leads, what is not
 * legal. */
extern const struct msd_req_move msd_req_moves[MSD_REQ_STATE_COUNT]
					      [MSD_REQ_EVENT_COUNT];

/** May the event come in this state? */
static inline bool msd_req_may_come(enum msd_req_state from, enum msd_req_event e)
{
	return msd_req_moves[from][e].to != MSD_REQ_QUEUED;
}

/** What the event leads to. One that is not legal ends the process, for it is our own
 * mistake. Twice in every call, so it is here. */
static inline struct msd_req_move msd_req_step(enum msd_req_state from,
					       enum msd_req_event e)
{
	if (!msd_req_may_come(from, e))
		abort();
	return msd_req_moves[from][e];
}

#endif
