#ifndef MSD_SUPERVISOR_LIFE_STEP_H
#define MSD_SUPERVISOR_LIFE_STEP_H
/*
 * The decisions of a module's life, without a process, a clock or a socket: an event
 * goes in, the state changes, actions come out, and life.c performs them in their
 * order.
 *
 * What may come when, and what becomes of the state, is life_table.h. An event that is
 * not legal is our own mistake and ends the process.
 */
#include "daemon/supervisor/module/life_table.h"

enum msd_life_action_type {
	MSD_ACT_START,        /* make a process for the worker, then STARTED or LOST */
	MSD_ACT_START_AGAIN,  /* the same, after a death */
	MSD_ACT_START_OTHERS, /* the same for all but the first */
	MSD_ACT_SET_OVERDUE,  /* OVERDUE in least_ms, unless it is OPENED or LOST */
	MSD_ACT_REST,         /* RESTED in least_ms to most_ms */
	MSD_ACT_STOP_TIMERS,  /* of all workers */
	MSD_ACT_SET_DRAIN,    /* DRAIN_OVER in least_ms */
	MSD_ACT_KILL_OVERDUE,
	MSD_ACT_KILL_IDLE,
	MSD_ACT_KILL_LOADING,   /* all: another one failed to load */
	MSD_ACT_KILL_DRAINED,   /* all: their time is up */
	MSD_ACT_KILL_UNCALLED,  /* all: nobody calls the module */
	MSD_ACT_BLAME_DEATH,    /* keep as the cause that a worker died loading */
	MSD_ACT_BLAME_DEATHS,   /* keep as the cause that they died too often */
	MSD_ACT_TRY,            /* run its self-tests, then TRIED or BLAMED and LOST */
	MSD_ACT_FORGIVE,        /* drop the cause that is kept */
	MSD_ACT_REPORT_FAILURE, /* in the log */
	MSD_ACT_TAKE_OVER,      /* take the predecessor's name, unload it */
	MSD_ACT_UNLOAD_SUCCESSOR,
	MSD_ACT_NAME_SUCCESSOR, /* it gets the name, then NAMED */
	MSD_ACT_ANSWER_WAITERS, /* as the state says */
	MSD_ACT_REFUSE_QUEUED,  /* as the state says */
	MSD_ACT_GIVE_UP_QUEUED, /* their time is up */
	MSD_ACT_QUEUED_WAIT,  /* what is queued waits for READY, but not without end */
	MSD_ACT_QUEUED_READY, /* it waits for its own deadlines alone */
	MSD_ACT_PUMP,         /* send the workers what they have room for */
	MSD_ACT_CHECK_IDLE,   /* IDLE for each worker that nobody waits for */
	MSD_ACT_FREE,         /* forget the module, then answer who waits for that: when
				 what is queued was refused; always the last one */
	MSD_ACT_COUNT
};

struct msd_life_action {
	enum msd_life_action_type type;
	uint32_t worker;
	uint64_t least_ms, most_ms;
};

#define MSD_MAX_ACTIONS 8u

struct msd_life_actions {
	uint32_t n;
	struct msd_life_action all[MSD_MAX_ACTIONS];
};

/** Take the event at @now_ms: @life changes, *@ret is what is to be done, in order. */
void msd_life_step(struct msd_life *life, const struct msd_life_event *e,
		   uint64_t now_ms, struct msd_life_actions *ret);
/** Some worker has a process. */
bool msd_life_has_process(const struct msd_life *life);

#endif
