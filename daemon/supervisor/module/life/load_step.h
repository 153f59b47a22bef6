#ifndef MSD_SUPERVISOR_LOAD_STEP_H
#define MSD_SUPERVISOR_LOAD_STEP_H
/*
 * The state machine of the bytes of a module, from its load to its end: it maps an
 * event to the next state and the actions. life_step.h has the states of its workers.
 * module_source.c, life.c and life_actions.c execute the actions.
 *
 *   READING --have--> OPENING --good--> LOADED
 *   READING_KEPT, FETCHING --have--> WRITING --written--> TRYING --good--> LOADED
 *   STORED --have--> TRYING
 *   LOADED --slept--> LOOKING --copy--> RELEASED --called--> BRINGING --brought-->
 * LOADED
 *
 * A load begins in one of the first four states. Each state before LOADED leads to
 * ENDED if the load is bad or given up, and each state does so when the module is over.
 * Only TRYING tells the store whether a candidate is good.
 */
#include <stdbool.h>
#include <stdint.h>

enum msd_load_state {
	MSD_LOAD_READING, /* its bytes are being read; the store does not keep it */
	MSD_LOAD_READING_KEPT, /* the same for a candidate, which is not recorded yet */
	MSD_LOAD_FETCHING,     /* the same; its source will provide the bytes */
	MSD_LOAD_STORED,       /* a candidate that is in the record already */
	MSD_LOAD_WRITING,      /* the store records the candidate */
	MSD_LOAD_OPENING,      /* its workers open and test it */
	MSD_LOAD_TRYING,       /* the same for a recorded candidate */
	MSD_LOAD_LOADED,       /* it was READY */
	MSD_LOAD_LOOKING,      /* it fell asleep: the store looks for a copy */
	MSD_LOAD_RELEASED,     /* the store has its only copy */
	MSD_LOAD_BRINGING,     /* the store reads that copy */
	MSD_LOAD_ENDED,        /* it failed, or it is being unloaded */
	MSD_LOAD_STATE_COUNT
};

enum msd_load_event {
	MSD_LOAD_HAVE,     /* its bytes are complete */
	MSD_LOAD_WRITTEN,  /* the candidate is recorded */
	MSD_LOAD_GOOD,     /* the module is READY, perhaps again */
	MSD_LOAD_BAD,      /* it is FAILED or QUARANTINED */
	MSD_LOAD_GIVEN_UP, /* no client waits for the load any more */
	MSD_LOAD_OVER,     /* it was unloaded, which says nothing about its bytes */
	MSD_LOAD_SLEPT,    /* it is ASLEEP */
	MSD_LOAD_CALLED,   /* a client calls it while it is ASLEEP */
	MSD_LOAD_COPY,     /* the store has a copy, and the bytes are not needed */
	MSD_LOAD_NO_COPY,  /* the store has none, or they are needed */
	MSD_LOAD_BROUGHT,  /* the bytes of that copy are complete */
	MSD_LOAD_EVENT_COUNT
};

enum msd_load_action {
	MSD_LOAD_START = 1,  /* start its workers */
	MSD_LOAD_WRITE = 2,  /* let the store record it */
	MSD_LOAD_TELL = 4,   /* tell the store the result; if good, that answers too */
	MSD_LOAD_ANSWER = 8, /* answer the requests that wait for the module */
	MSD_LOAD_LOOK = 16,  /* ask the store for a copy */
	MSD_LOAD_RELEASE = 32, /* free its bytes */
	MSD_LOAD_BRING = 64,   /* let the store read the copy */
	MSD_LOAD_WAKE = 128,   /* start its workers again */
};

struct msd_load_move {
	uint8_t to;
	uint8_t actions;
};

/** True if the event is legal in this state. */
bool msd_load_event_is_legal(enum msd_load_state from, enum msd_load_event e);
/**
 * The state and actions that the event leads to. An illegal event is our own bug and
 * aborts the process.
 */
struct msd_load_move msd_load_step(enum msd_load_state from, enum msd_load_event e);

#endif
