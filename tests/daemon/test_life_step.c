#include <criterion/criterion.h>
#include <signal.h>
#include <string.h>

#include "daemon/supervisor/module/life/life_step.h"

/* Each state with each event, against a table written by hand. */

static const char *const action_names[MSD_ACT_COUNT] = {
	[MSD_ACT_START] = "start",
	[MSD_ACT_START_AGAIN] = "start-again",
	[MSD_ACT_START_OTHERS] = "start-others",
	[MSD_ACT_SET_OVERDUE] = "set-overdue",
	[MSD_ACT_REST] = "rest",
	[MSD_ACT_STOP_TIMERS] = "stop-timers",
	[MSD_ACT_SET_DRAIN] = "set-drain",
	[MSD_ACT_KILL_OVERDUE] = "kill-overdue",
	[MSD_ACT_KILL_IDLE] = "kill-idle",
	[MSD_ACT_KILL_LOADING] = "kill-loading",
	[MSD_ACT_KILL_DRAINED] = "kill-drained",
	[MSD_ACT_KILL_UNCALLED] = "kill-uncalled",
	[MSD_ACT_BLAME_DEATH] = "blame-death",
	[MSD_ACT_BLAME_DEATHS] = "blame-deaths",
	[MSD_ACT_TRY] = "try",
	[MSD_ACT_FORGIVE] = "forgive",
	[MSD_ACT_REPORT_FAILURE] = "report",
	[MSD_ACT_TAKE_OVER] = "take-over",
	[MSD_ACT_UNLOAD_SUCCESSOR] = "unload-successor",
	[MSD_ACT_NAME_SUCCESSOR] = "name-successor",
	[MSD_ACT_ANSWER_WAITERS] = "answer-waiters",
	[MSD_ACT_REFUSE_QUEUED] = "refuse",
	[MSD_ACT_GIVE_UP_QUEUED] = "give-up",
	[MSD_ACT_QUEUED_WAIT] = "queued-wait",
	[MSD_ACT_QUEUED_READY] = "queued-ready",
	[MSD_ACT_PUMP] = "pump",
	[MSD_ACT_CHECK_IDLE] = "check-idle",
	[MSD_ACT_FREE] = "free",
};

#define LOADING MSD_STATE_LOADING
#define TRIAL MSD_STATE_TRIAL
#define READY MSD_STATE_READY
#define RESTARTING MSD_STATE_RESTARTING
#define ASLEEP MSD_STATE_ASLEEP
#define DRAINING MSD_STATE_DRAINING
#define FAILED MSD_STATE_FAILED
#define QUARANTINED MSD_STATE_QUARANTINED

#define OFF MSD_PHASE_OFF
#define STARTING MSD_PHASE_STARTING
#define OPENING MSD_PHASE_OPENING
#define OPEN MSD_PHASE_OPEN
#define RESTING MSD_PHASE_RESTING

#define UNLOADED "stop-timers refuse answer-waiters free"
#define GONE "refuse answer-waiters free"
#define FAILS "stop-timers report answer-waiters refuse"
#define BECOMES_READY "forgive answer-waiters queued-ready pump"
#define OTHERWISE "pump check-idle"

/* A module with one worker; everything that is not here must be refused. */
static const struct row {
	enum msd_module_state from;
	enum msd_phase phase;
	enum msd_life_event_type event;
	enum msd_loss loss;
	enum msd_module_state to;
	const char *actions;
} rows[] = {
	{LOADING, STARTING, MSD_LIFE_STARTED, 0, LOADING, "set-overdue"},
	{LOADING, OPENING, MSD_LIFE_OPENED, 0, READY, BECOMES_READY},
	{LOADING, OPENING, MSD_LIFE_OVERDUE, 0, LOADING, "kill-overdue"},
	{LOADING, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, FAILED,
	 "blame-death " FAILS},
	{LOADING, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, FAILED,
	 "blame-death " FAILS},
	{LOADING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, FAILED, "blame-death " FAILS},
	{LOADING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, FAILED,
	 "blame-death " FAILS},
	{LOADING, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, FAILED,
	 "blame-death " FAILS},
	{LOADING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, FAILED, "blame-death " FAILS},
	{LOADING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, FAILED, "blame-death " FAILS},
	{LOADING, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, FAILED, "blame-death " FAILS},

	{TRIAL, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, FAILED,
	 "blame-death " FAILS},
	{TRIAL, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, FAILED,
	 "blame-death " FAILS},
	{TRIAL, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, FAILED, "blame-death " FAILS},
	{TRIAL, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, FAILED, "blame-death " FAILS},
	{TRIAL, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, FAILED, "blame-death " FAILS},
	{TRIAL, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, FAILED, "blame-death " FAILS},
	{TRIAL, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, FAILED, "blame-death " FAILS},
	{TRIAL, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, FAILED, "blame-death " FAILS},

	{READY, STARTING, MSD_LIFE_STARTED, 0, READY, "set-overdue"},
	{READY, OPENING, MSD_LIFE_OPENED, 0, READY, "forgive " OTHERWISE},
	{READY, OPENING, MSD_LIFE_OVERDUE, 0, READY, "kill-overdue"},
	{READY, RESTING, MSD_LIFE_RESTED, 0, READY, "start"},
	{READY, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, RESTARTING,
	 "queued-wait start-again pump"},
	{READY, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, RESTARTING,
	 "queued-wait start-again pump"},

	{RESTARTING, STARTING, MSD_LIFE_STARTED, 0, RESTARTING, "set-overdue"},
	{RESTARTING, OPENING, MSD_LIFE_OPENED, 0, READY, BECOMES_READY},
	{RESTARTING, OPENING, MSD_LIFE_OVERDUE, 0, RESTARTING, "kill-overdue"},
	{RESTARTING, RESTING, MSD_LIFE_RESTED, 0, RESTARTING, "start"},
	{RESTARTING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, RESTARTING,
	 "queued-wait start-again pump"},
	{RESTARTING, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, RESTARTING,
	 "queued-wait start-again pump"},

	{ASLEEP, OPENING, MSD_LIFE_OPENED, 0, ASLEEP, OTHERWISE},
	{ASLEEP, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, ASLEEP, ""},
	{ASLEEP, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, ASLEEP, ""},
	{ASLEEP, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, ASLEEP, ""},
	{ASLEEP, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, ASLEEP, ""},
	{ASLEEP, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, ASLEEP, ""},
	{ASLEEP, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, ASLEEP, ""},
	{ASLEEP, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, ASLEEP, ""},
	{ASLEEP, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, ASLEEP, ""},

	{DRAINING, OPENING, MSD_LIFE_OPENED, 0, DRAINING, OTHERWISE},
	{DRAINING, OPENING, MSD_LIFE_IDLE, 0, DRAINING, "kill-idle"},
	{DRAINING, OPEN, MSD_LIFE_IDLE, 0, DRAINING, "kill-idle"},
	{DRAINING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, DRAINING, GONE},
	{DRAINING, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, DRAINING, GONE},
	{DRAINING, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, DRAINING, GONE},
	{DRAINING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, DRAINING, GONE},
	{DRAINING, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, DRAINING, GONE},
	{DRAINING, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, DRAINING, GONE},
	{DRAINING, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, DRAINING, GONE},
	{DRAINING, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, DRAINING, GONE},

	{QUARANTINED, OPENING, MSD_LIFE_OPENED, 0, QUARANTINED, OTHERWISE},
	{QUARANTINED, OPENING, MSD_LIFE_IDLE, 0, QUARANTINED, "kill-idle"},
	{QUARANTINED, OPEN, MSD_LIFE_IDLE, 0, QUARANTINED, "kill-idle"},
	{QUARANTINED, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEATH, QUARANTINED, ""},
	{QUARANTINED, OPENING, MSD_LIFE_LOST, MSD_LOSS_DEVICE, QUARANTINED, ""},
	{QUARANTINED, OPENING, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, QUARANTINED, ""},
	{QUARANTINED, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEATH, QUARANTINED, ""},
	{QUARANTINED, OPEN, MSD_LIFE_LOST, MSD_LOSS_DEVICE, QUARANTINED, ""},
	{QUARANTINED, OPEN, MSD_LIFE_LOST, MSD_LOSS_OVERRUN, QUARANTINED, ""},
	{QUARANTINED, STARTING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, QUARANTINED, ""},
	{QUARANTINED, OPENING, MSD_LIFE_LOST, MSD_LOSS_NOT_STARTED, QUARANTINED, ""},
};

/* Events that are about no worker: the same whatever the worker does, but for whether
 * there is a process to wait for. */
static const struct plain_row {
	enum msd_module_state from;
	enum msd_life_event_type event;
	enum msd_module_state to;
	const char *with_process, *without;
} plain_rows[] = {
	{LOADING, MSD_LIFE_LOAD, LOADING, "start", "start"},
	{LOADING, MSD_LIFE_UNREADABLE, FAILED, FAILS, FAILS},
	{LOADING, MSD_LIFE_BLAMED, LOADING, "", ""},
	{LOADING, MSD_LIFE_NAMED, LOADING, "", ""},
	{TRIAL, MSD_LIFE_BLAMED, TRIAL, "", ""},
	{TRIAL, MSD_LIFE_NAMED, TRIAL, "", ""},
	{TRIAL, MSD_LIFE_TRIED, READY, BECOMES_READY, BECOMES_READY},
	{TRIAL, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{READY, MSD_LIFE_BLAMED, READY, "", ""},
	{RESTARTING, MSD_LIFE_BLAMED, RESTARTING, "", ""},
	{ASLEEP, MSD_LIFE_BLAMED, ASLEEP, "", ""},
	{READY, MSD_LIFE_SLEEP, ASLEEP, "stop-timers kill-uncalled",
	 "stop-timers kill-uncalled"},
	{ASLEEP, MSD_LIFE_WAKE, ASLEEP, "", "queued-wait start"},
	{ASLEEP, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{DRAINING, MSD_LIFE_BLAMED, DRAINING, "", ""},
	{QUARANTINED, MSD_LIFE_BLAMED, QUARANTINED, "", ""},
	{LOADING, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{READY, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{RESTARTING, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{DRAINING, MSD_LIFE_UNLOAD, DRAINING, "", ""},
	{FAILED, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{QUARANTINED, MSD_LIFE_UNLOAD, DRAINING,
	 "unload-successor stop-timers set-drain check-idle",
	 "unload-successor " UNLOADED},
	{DRAINING, MSD_LIFE_DRAIN_OVER, DRAINING, "give-up kill-drained",
	 "give-up kill-drained"},
};

static const struct plain_row *plain_row_of(enum msd_module_state from,
					    enum msd_life_event_type event)
{
	for (size_t i = 0; i < sizeof(plain_rows) / sizeof(plain_rows[0]); i++) {
		if (plain_rows[i].from == from && plain_rows[i].event == event)
			return &plain_rows[i];
	}
	return NULL;
}

static const struct row *row_of(enum msd_module_state from, enum msd_phase phase,
				enum msd_life_event_type event, enum msd_loss loss)
{
	/* What a worker is killed for while it runs something is one to its life. */
	if (loss == MSD_LOSS_TOO_LONG || loss == MSD_LOSS_IN_WAY)
		loss = MSD_LOSS_OVERRUN;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].from == from && rows[i].phase == phase &&
		    rows[i].event == event &&
		    (event != MSD_LIFE_LOST || rows[i].loss == loss))
			return &rows[i];
	}
	return NULL;
}

static struct msd_life life_in(enum msd_module_state state, struct msd_life_worker *w,
			       enum msd_phase phase)
{
	*w = (struct msd_life_worker){.phase = phase};
	return (struct msd_life){.state = state,
				 .workers = w,
				 .n_workers = 1,
				 .n_open = phase == OPEN ? 1u : 0u,
				 .load_limit_ms = 1000,
				 .drain_limit_ms = 100,
				 .max_deaths = 5};
}

/* As one line of names. */
static const char *text_of(const struct msd_life_actions *as)
{
	static char text[400];

	text[0] = '\0';
	for (uint32_t i = 0; i < as->n; i++) {
		if (i > 0)
			(void)strncat(text, " ", sizeof(text) - strlen(text) - 1);
		(void)strncat(text, action_names[as->all[i].type],
			      sizeof(text) - strlen(text) - 1);
	}
	return text;
}

static bool is_plain(enum msd_life_event_type event)
{
	return event == MSD_LIFE_LOAD || event == MSD_LIFE_UNREADABLE ||
	       event == MSD_LIFE_BLAMED || event == MSD_LIFE_UNLOAD ||
	       event == MSD_LIFE_DRAIN_OVER || event == MSD_LIFE_NAMED ||
	       event == MSD_LIFE_TRIED || event == MSD_LIFE_SLEEP ||
	       event == MSD_LIFE_WAKE;
}

/* One cell of state, phase, event and loss. */
static void expect_cell(enum msd_module_state state, enum msd_phase phase,
			const struct msd_life_event *e)
{
	struct msd_life_worker w;
	struct msd_life life = life_in(state, &w, phase);
	struct msd_life_actions as;
	const struct plain_row *plain = plain_row_of(state, e->type);
	const struct row *row = row_of(state, phase, e->type, e->loss);
	const bool is_legal = is_plain(e->type) ? plain != NULL : row != NULL;

	cr_assert_eq(msd_life_event_is_legal(&life, e), is_legal,
		     "%s, phase %d, event %d/%d", msd_module_state_name(state),
		     (int)phase, (int)e->type, (int)e->loss);
	if (!is_legal)
		return;
	const bool has_process = phase == OPENING || phase == OPEN;
	const char *expected = row != NULL   ? row->actions
			       : has_process ? plain->with_process
					     : plain->without;
	enum msd_module_state to = row != NULL ? row->to : plain->to;
	if (e->type == MSD_LIFE_WAKE && !has_process) /* nobody is waited for */
		to = RESTARTING;
	msd_life_step(&life, e, 5000, &as);
	cr_expect_eq(life.state, to, "%s, phase %d, event %d: now %s",
		     msd_module_state_name(state), (int)phase, (int)e->type,
		     msd_module_state_name(life.state));
	cr_expect_str_eq(text_of(&as), expected, "%s, phase %d, event %d: got \"%s\"",
			 msd_module_state_name(state), (int)phase, (int)e->type,
			 text_of(&as));
}

Test(life_step, each_state_does_with_each_event_what_the_table_says)
{
	for (int state = 0; state < MSD_STATE_COUNT; state++) {
		for (int phase = 0; phase < MSD_PHASE_COUNT; phase++) {
			for (int event = 0; event < MSD_LIFE_EVENT_COUNT; event++) {
				for (int loss = 0; loss < MSD_LOSS_COUNT; loss++) {
					expect_cell(
						(enum msd_module_state)state,
						(enum msd_phase)phase,
						&(struct msd_life_event){
							.type = (enum msd_life_event_type)
								event,
							.loss = (enum msd_loss)loss});
				}
			}
		}
	}
}

/* @e comes while one of two workers is open and the other has yet to be started. */
static void expect_nobody_starts_after(const struct msd_life_event *e,
				       enum msd_phase waiting)
{
	struct msd_life_worker w[2];
	struct msd_life life = life_in(READY, w, OPEN);
	struct msd_life_actions as;

	w[1] = (struct msd_life_worker){.phase = waiting};
	life.n_workers = 2;
	life.max_deaths = 1;
	msd_life_step(&life, e, 5000, &as);
	cr_expect_eq(w[1].phase, OFF, "%s: waiting %d is now %d",
		     msd_module_state_name(life.state), (int)waiting, (int)w[1].phase);
}

Test(life_step, an_unload_and_a_quarantine_start_nobody_any_more)
{
	const struct msd_life_event unload = {.type = MSD_LIFE_UNLOAD};
	const struct msd_life_event death = {.type = MSD_LIFE_LOST,
					     .loss = MSD_LOSS_DEATH};

	expect_nobody_starts_after(&unload, STARTING);
	expect_nobody_starts_after(&unload, RESTING);
	expect_nobody_starts_after(&death, STARTING);
	expect_nobody_starts_after(&death, RESTING);
}

Test(life_step, what_has_self_tests_is_tried_before_it_serves)
{
	struct msd_life_worker w;
	struct msd_life life = life_in(LOADING, &w, OPENING);
	struct msd_life_actions as;

	life.has_trial = life.is_successor = true;
	msd_life_step(&life, &(struct msd_life_event){.type = MSD_LIFE_OPENED}, 0, &as);
	cr_expect_eq(life.state, TRIAL);
	cr_expect_str_eq(text_of(&as), "try");
	msd_life_step(&life, &(struct msd_life_event){.type = MSD_LIFE_TRIED}, 0, &as);
	cr_expect_eq(life.state, READY);
	cr_expect_str_eq(text_of(&as),
			 "forgive take-over answer-waiters queued-ready pump");
}

Test(life_step, an_illegal_event_ends_the_process, .signal = SIGABRT)
{
	struct msd_life_worker w;
	struct msd_life life = life_in(FAILED, &w, OFF);
	struct msd_life_actions as;

	msd_life_step(&life, &(struct msd_life_event){.type = MSD_LIFE_OPENED}, 0, &as);
}
