#ifndef MSD_SUPERVISOR_LIFE_STEP_H
#define MSD_SUPERVISOR_LIFE_STEP_H
/*
 * The state machine of a module, without a process, a clock or a socket. An event
 * changes the state and yields actions, which life.c performs in order.
 *
 * life_table.h defines which event is legal when, and the states. An illegal event is
 * a bug and aborts the process.
 */
#include "daemon/supervisor/module/life/life_table.h"

enum msd_life_action_type {
	MSD_ACT_START,        /* start a process for the worker, then STARTED or LOST */
	MSD_ACT_START_AGAIN,  /* the same, after a death */
	MSD_ACT_START_OTHERS, /* the same for all but the first */
	MSD_ACT_SET_OVERDUE,  /* OVERDUE in least_ms, unless it is OPENED or LOST */
	MSD_ACT_REST,         /* RESTED in least_ms to most_ms */
	MSD_ACT_STOP_TIMERS,  /* of all workers */
	MSD_ACT_SET_DRAIN,    /* DRAIN_OVER in least_ms */
	MSD_ACT_KILL_OVERDUE,
	MSD_ACT_KILL_IDLE,
	MSD_ACT_KILL_LOADING,   /* all: another one failed to load */
	MSD_ACT_KILL_DRAINED,   /* all: the drain time is over */
	MSD_ACT_KILL_UNCALLED,  /* all: the module is not called */
	MSD_ACT_BLAME_DEATH,    /* store the cause: a worker died while loading */
	MSD_ACT_BLAME_DEATHS,   /* store the cause: workers died too often */
	MSD_ACT_TRY,            /* run its self-tests, then TRIED or BLAMED and LOST */
	MSD_ACT_FORGIVE,        /* drop the stored cause */
	MSD_ACT_REPORT_FAILURE, /* in the log */
	MSD_ACT_TAKE_OVER,      /* take the predecessor's name, unload it */
	MSD_ACT_UNLOAD_SUCCESSOR,
	MSD_ACT_NAME_SUCCESSOR, /* it gets the name, then NAMED */
	MSD_ACT_ANSWER_WAITERS, /* according to the state */
	MSD_ACT_REFUSE_QUEUED,  /* according to the state */
	MSD_ACT_GIVE_UP_QUEUED, /* the drain time is over */
	MSD_ACT_QUEUED_WAIT,    /* queued requests wait for READY, within limits */
	MSD_ACT_QUEUED_READY,   /* they wait for their own deadlines only */
	MSD_ACT_PUMP,           /* send the workers requests that they have room for */
	MSD_ACT_CHECK_IDLE,     /* IDLE for each worker that no client waits for */
	MSD_ACT_FREE, /* forget the module, then answer the unload requests, once the
			 queued requests are refused; always the last one */
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

/**
 * Process the event at @now_ms: change @life, and store the actions in order in
 * *@ret.
 */
void msd_life_step(struct msd_life *life, const struct msd_life_event *e,
		   uint64_t now_ms, struct msd_life_actions *ret);
/** True if a worker has a process. */
bool msd_life_has_process(const struct msd_life *life);

#endif
