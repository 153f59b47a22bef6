#ifndef MSD_SUPERVISOR_MODULE_LIFE_TABLE_H
#define MSD_SUPERVISOR_MODULE_LIFE_TABLE_H
/*
 * What a module's life can be: its states, the phases of its workers, the events that
 * come to it, and which of them are legal when. What they do is life_step.h.
 *
 *   LOADING --all opened--> (TRIAL --> ) READY --last lost--> RESTARTING --opened-->
 * READY |                      '----too many deaths----+---> QUARANTINED
 *      '--none left--> FAILED <-- of TRIAL, too
 *   READY --nobody calls it--> ASLEEP --a call--> RESTARTING
 *   each of them --unload--> DRAINING --no process left--> (freed)
 *
 * TRIAL is between the two where there are self-tests.
 *
 * Events, and what a worker must be for them (LOADING, READY, RESTARTING are "alive"):
 *
 *   LOAD, UNREADABLE  LOADING         before anything else, once
 *   STARTED i         alive           STARTING, the answer to the actions START*
 *   BLAMED            not FAILED      any; a start or an opening failed with a cause
 *   OPENED i          not FAILED      OPENING
 *   SLEEP             READY           nobody has called it for long
 *   WAKE              ASLEEP          somebody calls it; its workers may be ending yet
 *   LOST i            not FAILED      STARTING (it could not be started), OPENING, OPEN
 *   OVERDUE i         alive           OPENING, the end of SET_OVERDUE
 *   RESTED i          READY, RESTARTING  RESTING, the end of REST
 *   IDLE i            DRAINING, QUARANTINED  nobody waits for anything from it
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
	X(TRIAL, "TRIAL")                                                              \
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

/** The name on the wire. */
const char *msd_module_state_name(enum msd_module_state state);

enum msd_phase {
	MSD_PHASE_OFF,
	MSD_PHASE_STARTING, /* a process is wanted; there may come none */
	MSD_PHASE_OPENING,  /* its process has not opened the artifact, or not begun */
	MSD_PHASE_OPEN,
	MSD_PHASE_RESTING, /* it is started again later */
	MSD_PHASE_COUNT
};

enum msd_loss {
	MSD_LOSS_NOT_STARTED, /* no process could be made, or it got no program */
	MSD_LOSS_DEATH,
	MSD_LOSS_DEVICE,   /* it said that its device is lost to it */
	MSD_LOSS_OVERRUN,  /* it was killed for a call that overran its deadline, ... */
	MSD_LOSS_TOO_LONG, /* ... ran longer than any may, ... */
	MSD_LOSS_IN_WAY,   /* ... or kept others waiting, and nobody waited for it */
	MSD_LOSS_COUNT
};

/* One worker of the module. */
struct msd_life_worker {
	enum msd_phase phase;
	uint32_t n_rests;  /* of restarts in a row */
	uint64_t ready_ms; /* when its process opened the artifact; 0: not yet */
};

#define MSD_KEPT_DEATHS 8u

struct msd_life {
	enum msd_module_state state;
	struct msd_life_worker *workers; /* n_workers, at least 1; borrowed */
	uint32_t n_workers;
	uint32_t n_open; /* of them, those that are OPEN */
	uint64_t load_limit_ms, drain_limit_ms;
	uint64_t max_deaths; /* so many within a minute quarantine it */
	uint64_t load_ms;    /* when the load was begun */
	bool is_blamed;      /* a cause is kept for the load's failure */
	bool died_loading;   /* a worker did; the log may say why */
	bool has_trial;      /* it is tried before it serves */
	bool is_successor;   /* it waits for its predecessor's name */
	bool is_called;      /* ASLEEP, it is to wake when its workers have ended */
	uint32_t n_restarts; /* of all workers together, as are the deaths */
	uint32_t n_deaths;
	uint32_t n_unopened; /* deaths in a row without any worker having opened it */
	uint64_t deaths_ms[MSD_KEPT_DEATHS]; /* times of the latest deaths */
};

enum msd_life_event_type {
	MSD_LIFE_LOAD,
	MSD_LIFE_UNREADABLE, /* there is no artifact to load */
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
	uint32_t worker;    /* of those that are about one */
	enum msd_loss loss; /* of LOST */
	bool is_peers;      /* of LOST: a call's peer is to blame for it */
	bool has_loader;    /* of LOST, UNREADABLE: a client waits for the answer to its
			       load */
};

/** May a module go from one state to another? */
bool msd_life_may_move(enum msd_module_state from, enum msd_module_state to);
/** May the event come in the state @life is in? */
bool msd_life_may_come(const struct msd_life *life, const struct msd_life_event *e);

#endif
