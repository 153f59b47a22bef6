#ifndef MSD_SUPERVISOR_MODULE_LIFE_TABLE_H
#define MSD_SUPERVISOR_MODULE_LIFE_TABLE_H
/*
 * The states of a module, the phases of its workers, its events, and which event is
 * legal when. life_step.h defines their effects.
 *
 *   LOADING --all opened--> READY
 *   LOADING --all opened--> TRIAL --tests passed--> READY    if it has self-tests
 *   LOADING, TRIAL --no worker left--> FAILED
 *   READY --last worker lost--> RESTARTING --a worker opened--> READY
 *   READY, RESTARTING --too many deaths--> QUARANTINED
 *   READY --not called--> ASLEEP --a call--> RESTARTING
 *   each of them --unload--> DRAINING --no process left--> (freed)
 *
 * Events, the legal states, and the phase of the worker. LOADING, READY and
 * RESTARTING are "alive":
 *
 *   LOAD, UNREADABLE  LOADING         before any other event, once
 *   STARTED i         alive           STARTING, the answer to the actions START*
 *   BLAMED            not FAILED      any; a start or an opening failed with a cause
 *   OPENED i          not FAILED      OPENING
 *   SLEEP             READY           the module was not called for long
 *   WAKE              ASLEEP          a client calls it; old workers may still exit
 *   LOST i            not FAILED      STARTING (it could not be started), OPENING, OPEN
 *   OVERDUE i         alive           OPENING, the end of SET_OVERDUE
 *   RESTED i          READY, RESTARTING  RESTING, the end of REST
 *   IDLE i            DRAINING, QUARANTINED  no client waits for its answer
 *   UNLOAD            any
 *   DRAIN_OVER        DRAINING        the end of SET_DRAIN
 *   TRIED             TRIAL           its self-tests have passed
 *   NAMED             LOADING, TRIAL  a successor, by its predecessor's NAME_SUCCESSOR
 */
#include <stdbool.h>
#include <stdint.h>

/* X(enumerator, name on the wire) */
#define MSD_MODULE_STATE_MAP(X)                                                        \
	X(LOADING, "LOADING")                                                          \
	X(TRIAL, "TESTING")                                                            \
	X(READY, "READY")                                                              \
	X(RESTARTING, "RESTARTING")                                                    \
	X(ASLEEP, "ASLEEP")                                                            \
	X(DRAINING, "DRAINING")                                                        \
	X(FAILED, "FAILED")                                                            \
	X(QUARANTINED, "QUARANTINED")

enum msd_module_state {
#define MSD_MODULE_STATE_ENUM(e, name) MSD_STATE_##e,
	MSD_MODULE_STATE_MAP(MSD_MODULE_STATE_ENUM)
#undef MSD_MODULE_STATE_ENUM
		MSD_STATE_COUNT
};

/** Return the name on the wire. */
const char *msd_module_state_name(enum msd_module_state state);

enum msd_phase {
	MSD_PHASE_OFF,
	MSD_PHASE_STARTING, /* a process was requested; it may fail to start */
	MSD_PHASE_OPENING,  /* its process has not yet opened the artifact */
	MSD_PHASE_OPEN,
	MSD_PHASE_RESTING, /* waits for its restart */
	MSD_PHASE_COUNT
};

enum msd_loss {
	MSD_LOSS_NOT_STARTED, /* process creation or program start failed */
	MSD_LOSS_DEATH,
	MSD_LOSS_DEVICE,   /* it reported that it lost its device */
	MSD_LOSS_OVERRUN,  /* killed for a call that exceeded its deadline, ... */
	MSD_LOSS_TOO_LONG, /* ... that ran longer than max-run, ... */
	MSD_LOSS_IN_WAY,   /* ... or that was abandoned and delayed other requests */
	MSD_LOSS_COUNT
};

/* One worker of the module. */
struct msd_life_worker {
	enum msd_phase phase;
	uint32_t n_rests;  /* delayed restarts in a row */
	uint64_t ready_ms; /* when its process opened the artifact; 0: not yet */
};

#define MSD_KEPT_DEATHS 8u

struct msd_life {
	enum msd_module_state state;
	struct msd_life_worker *workers; /* n_workers, at least 1; borrowed */
	uint32_t n_workers;
	uint32_t n_open; /* number of workers that are OPEN */
	uint64_t load_limit_ms, drain_limit_ms;
	uint64_t max_deaths; /* so many within a minute quarantine it */
	uint64_t load_ms;    /* time of the load */
	bool is_blamed;      /* a cause of the load's failure is stored */
	bool died_loading;   /* a worker did; the log may have the cause */
	bool has_trial;      /* it runs self-tests before it serves */
	bool is_successor;   /* it waits for its predecessor's name */
	bool is_called;      /* ASLEEP: wake when its workers have exited */
	uint32_t n_restarts; /* restarts and deaths: for all workers together */
	uint32_t n_deaths;
	uint32_t n_unopened; /* deaths in a row with the artifact not opened */
	uint64_t deaths_ms[MSD_KEPT_DEATHS]; /* times of the latest deaths */
};

enum msd_life_event_type {
	MSD_LIFE_LOAD,
	MSD_LIFE_UNREADABLE, /* the artifact cannot be read */
	MSD_LIFE_STARTED,
	MSD_LIFE_BLAMED,
	MSD_LIFE_OPENED,
	MSD_LIFE_LOST,
	MSD_LIFE_OVERDUE,
	MSD_LIFE_RESTED,
	MSD_LIFE_IDLE,
	MSD_LIFE_UNLOAD,
	MSD_LIFE_DRAIN_OVER,
	MSD_LIFE_TRIED,
	MSD_LIFE_NAMED, /* its predecessor is forgotten */
	MSD_LIFE_SLEEP,
	MSD_LIFE_WAKE,
	MSD_LIFE_EVENT_COUNT
};

struct msd_life_event {
	enum msd_life_event_type type;
	uint32_t worker;    /* of events about a worker */
	enum msd_loss loss; /* of LOST */
	bool is_peers;      /* of LOST: the peer of a call is to blame */
	bool has_loader;    /* of LOST, UNREADABLE: a client waits for its load */
};

/** True if a module may change from one state to another. */
bool msd_life_may_move(enum msd_module_state from, enum msd_module_state to);
/** True if the event is legal in the state of @life. */
bool msd_life_event_is_legal(const struct msd_life *life,
			     const struct msd_life_event *e);

#endif
