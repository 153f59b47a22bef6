#include "daemon/supervisor/module/life/life_table.h"

#include "proto/words/words.h"

#define BIT(x) (1u << (x))
#define ALIVE                                                                          \
	(BIT(MSD_STATE_LOADING) | BIT(MSD_STATE_READY) | BIT(MSD_STATE_RESTARTING))
#define TRIED BIT(MSD_STATE_TRIAL)
#define ASLEEP BIT(MSD_STATE_ASLEEP)
#define ENDING (BIT(MSD_STATE_DRAINING) | BIT(MSD_STATE_QUARANTINED))
#define ANY (ALIVE | TRIED | ASLEEP | ENDING | BIT(MSD_STATE_FAILED))

MSD_WORDS_DEFINE(msd_module_state_name, enum msd_module_state, MSD_MODULE_STATE_MAP)

/* Legal next states of each state. */
static const unsigned moves[MSD_STATE_COUNT] = {
	[MSD_STATE_LOADING] = BIT(MSD_STATE_TRIAL) | BIT(MSD_STATE_READY) |
			      BIT(MSD_STATE_FAILED) | BIT(MSD_STATE_DRAINING),
	[MSD_STATE_TRIAL] =
		BIT(MSD_STATE_READY) | BIT(MSD_STATE_FAILED) | BIT(MSD_STATE_DRAINING),
	[MSD_STATE_READY] = BIT(MSD_STATE_RESTARTING) | BIT(MSD_STATE_QUARANTINED) |
			    BIT(MSD_STATE_DRAINING) | ASLEEP,
	[MSD_STATE_ASLEEP] = BIT(MSD_STATE_RESTARTING) | BIT(MSD_STATE_DRAINING),
	[MSD_STATE_RESTARTING] = BIT(MSD_STATE_READY) | BIT(MSD_STATE_QUARANTINED) |
				 BIT(MSD_STATE_DRAINING),
	[MSD_STATE_FAILED] = BIT(MSD_STATE_DRAINING),
	[MSD_STATE_QUARANTINED] = BIT(MSD_STATE_DRAINING),
};

/* States in which each event is legal, and phases of its worker. */
static const struct {
	unsigned states;
	unsigned phases; /* 0: it is not about a worker */
} events[MSD_LIFE_EVENT_COUNT] = {
	[MSD_LIFE_LOAD] = {BIT(MSD_STATE_LOADING), 0},
	[MSD_LIFE_UNREADABLE] = {BIT(MSD_STATE_LOADING), 0},
	[MSD_LIFE_STARTED] = {ALIVE, BIT(MSD_PHASE_STARTING)},
	[MSD_LIFE_BLAMED] = {ALIVE | TRIED | ASLEEP | ENDING, 0},
	[MSD_LIFE_OPENED] = {ALIVE | ASLEEP | ENDING, BIT(MSD_PHASE_OPENING)},
	[MSD_LIFE_LOST] = {ALIVE | TRIED | ASLEEP | ENDING,
			   BIT(MSD_PHASE_STARTING) | BIT(MSD_PHASE_OPENING) |
				   BIT(MSD_PHASE_OPEN)},
	[MSD_LIFE_OVERDUE] = {ALIVE, BIT(MSD_PHASE_OPENING)},
	[MSD_LIFE_RESTED] = {BIT(MSD_STATE_READY) | BIT(MSD_STATE_RESTARTING),
			     BIT(MSD_PHASE_RESTING)},
	[MSD_LIFE_IDLE] = {ENDING, BIT(MSD_PHASE_OPENING) | BIT(MSD_PHASE_OPEN)},
	[MSD_LIFE_UNLOAD] = {ANY, 0},
	[MSD_LIFE_DRAIN_OVER] = {BIT(MSD_STATE_DRAINING), 0},
	[MSD_LIFE_TRIED] = {TRIED, 0},
	[MSD_LIFE_SLEEP] = {BIT(MSD_STATE_READY), 0},
	[MSD_LIFE_WAKE] = {ASLEEP, 0},
	[MSD_LIFE_NAMED] = {BIT(MSD_STATE_LOADING) | TRIED, 0},
};

bool msd_life_may_move(enum msd_module_state from, enum msd_module_state to)
{
	return (moves[from] & BIT(to)) != 0;
}

bool msd_life_event_is_legal(const struct msd_life *life,
			     const struct msd_life_event *e)
{
	const unsigned phases = events[e->type].phases;

	if ((events[e->type].states & BIT(life->state)) == 0)
		return false;
	if (phases == 0)
		return true;
	if (e->worker >= life->n_workers ||
	    (phases & BIT(life->workers[e->worker].phase)) == 0)
		return false;
	/* A worker that could not be started has no process; an open one has. */
	const enum msd_phase phase = life->workers[e->worker].phase;
	const bool is_started = e->loss != MSD_LOSS_NOT_STARTED;
	return e->type != MSD_LIFE_LOST ||
	       !(is_started ? phase == MSD_PHASE_STARTING : phase == MSD_PHASE_OPEN);
}
