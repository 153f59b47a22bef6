#ifndef MSD_SUPERVISOR_MODULE_H
#define MSD_SUPERVISOR_MODULE_H
/*
 * A module by name: its source (kept for restarts), its queue, and its workers, as
 * many as requested at its load. READY means that all workers have opened the
 * artifact once, and at least one has it open now. life_table.h defines the states.
 *
 * A replacement is a second msd_module, hidden in `successor` until it is READY. Then
 * it takes the name and the old module drains.
 */
#include "daemon/supervisor/module/life/canary.h"
#include "daemon/supervisor/module/life/idle_tracker.h"
#include "daemon/supervisor/module/life/life_table.h"
#include "daemon/supervisor/module/life/load_step.h"
#include "daemon/supervisor/module/queue/blame.h"
#include "daemon/supervisor/module/workers/worker_group.h"
#include "daemon/supervisor/request/waiters.h"

#define MSD_LOG_BYTES (64u * 1024u) /* kept output of a module */

struct msd_source_job;
struct msd_self_test;

struct msd_module {
	struct msd_list link; /* msd_module_registry.modules */
	struct msd_worker_group group;
	struct msd_life life;
	struct msd_bans bars;
	enum msd_load_state load_state;  /* of its bytes */
	struct msd_source_job *bringing; /* job for its source; NULL: it exists */
	struct msd_deadline bring_timer; /* time limit of that job */
	uint64_t serial;                 /* unique */
	const char *owner; /* owner of the load, compared by address; NULL: none */
	uint64_t section;  /* configuration section that loaded it; 0: none */
	/* Canary state: it replaced a module, which is restored if it fails. */
	struct msd_canary canary;
	struct msd_deadline probation_end;
	struct msd_failed_edition
		failed_edition; /* the last failed edition of its replacements */
	struct msd_idle_tracker idleness; /* owned by sleep.c */
	struct msd_deadline idle_timer;   /* next check of it */
	struct msd_self_test *trial; /* self-tests, until they are done; NULL: none */
	struct msd_list receiving;   /* msd_req.link: requests with a partial payload */
	bool is_over;                /* msd_module_end() was called */
	bool is_replaced;            /* another module has its name; it drains */
	struct msd_waiters waiters;  /* load and wait requests */
	struct msd_waiters unloaders;
	struct msd_waiters followers;   /* requests that wait for more of the log */
	struct msd_module *successor;   /* loads under the same name */
	struct msd_module *predecessor; /* the module that it will replace */
	char *error;                    /* why FAILED or QUARANTINED */
	msd_err error_code;
	struct msd_deadline drain; /* time limit of DRAINING */
	char *log; /* ring of MSD_LOG_BYTES; NULL before the first output */
	size_t log_at, log_n;
	uint64_t log_total; /* bytes ever written */
};

/** Return the module of a worker group. */
static inline struct msd_module *msd_module_of(struct msd_worker_group *group)
{
	return MSD_CONTAINER_OF(group, struct msd_module, group);
}
/** Apply the event to its load_state; the caller executes the returned actions. */
static inline unsigned msd_module_take_load(struct msd_module *m, enum msd_load_event e)
{
	const struct msd_load_move move = msd_load_step(m->load_state, e);

	m->load_state = (enum msd_load_state)move.to;
	return move.actions;
}
/** Initialize the lists of waiting requests of a new module. */
void msd_module_open(struct msd_module *m);
/** Answer @r when the module is READY or has FAILED. Takes @r. */
void msd_module_wait(struct msd_module *m, struct msd_req *r);
/** Return why a DRAINING module takes no calls. */
const char *msd_module_why_draining(const struct msd_module *m);
/** Number of requests that are queued or sent. */
uint32_t msd_module_in_flight(const struct msd_module *m);
/**
 * Answer the requests that wait for the module, in turns: each according to the state
 * at that time.
 */
void msd_module_answer_waiters(struct msd_module *m);
/** Answer and free every request of a list; MSD_OK answers nil. */
void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text);
/**
 * Detach a module without a process: its name is free, and no lookup finds it. When
 * its queued requests are refused and its followers are notified, answer its unload
 * requests and free it. If there are none of these, free it now.
 */
void msd_module_end(struct msd_module *m);
/** The last queued request was refused, or the last waiting request was notified. */
void msd_module_refused(struct msd_module *m);
/** Free a module without a process, at once. */
void msd_module_free(struct msd_module *m);

#endif
