#include "daemon/supervisor/module/life/life.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/handover/handover_artifact.h"
#include "daemon/supervisor/module/life/canary_watch.h"
#include "daemon/supervisor/module/life/life_actions.h"
#include "daemon/supervisor/module/life/life_step.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/life/repository.h"
#include "daemon/supervisor/module/life/sleep.h"
#include "daemon/supervisor/module/queue/bans.h"
#include "daemon/supervisor/module/stats/call_log_dump.h"
#include "daemon/supervisor/module/workers/process.h"
#include "daemon/supervisor/module/workers/replica.h"

/*
 * The shell around life_step.c: it turns what happens to a module into an event, and
 * life_actions.c performs the resulting actions in order. MSD_ACT_FREE is the last
 * action and frees the module: no code after take() may touch it.
 */

static void take(struct msd_module *m, const struct msd_life_event *e, const char *how);

/* An event that is not about a single worker. */
void msd_module_take_plain(struct msd_module *m, enum msd_life_event_type type)
{
	take(m, &(struct msd_life_event){.type = type}, "");
}

void msd_module_start_work_for(struct msd_replica *rep, enum msd_life_event_type type)
{
	take(msd_module_of(rep->group),
	     &(struct msd_life_event){.type = type, .worker = rep->number - 1}, "");
}

void msd_module_set_error(struct msd_module *m, msd_err err, const char *text)
{
	free(m->error);
	m->error = text != NULL ? strdup(text) : NULL;
	m->error_code = err;
}

void msd_module_keep_error(struct msd_module *m, msd_err err, const char *text)
{
	if (m->life.state == MSD_STATE_QUARANTINED)
		return; /* the cause is already stored */
	msd_module_set_error(m, err, text);
	msd_module_take_plain(m, MSD_LIFE_BLAMED);
}

void msd_module_kill(struct msd_module *m, const char *reason)
{
	for (uint32_t i = 0; i < m->group.n_replicas; i++)
		msd_replica_kill(&m->group.replicas[i], reason);
}

static void say_move(const struct msd_module *m, enum msd_module_state was)
{
	msd_log(MSD_LOG_INFO, "module_state", "name=%s state=%s was=%s", m->group.name,
		msd_module_state_name(m->life.state), msd_module_state_name(was));
}

static void on_look(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, idle_timer);
	uint64_t again_ms;

	if (m->life.state != MSD_STATE_READY)
		return; /* the timer restarts when the module is READY */
	if (msd_sleep_look(m, &again_ms)) {
		msd_module_take_plain(m, MSD_LIFE_SLEEP);
	} else if (again_ms > 0) {
		msd_deadline_set(m->group.registry->deadlines, &m->idle_timer,
				 again_ms);
	}
}

msd_err msd_module_sleep(struct msd_module *m, struct msd_diag *d)
{
	if (m->life.state == MSD_STATE_ASLEEP)
		return MSD_OK;
	const msd_err err = msd_sleep_want(m, d);
	if (err == MSD_OK)
		on_look(&m->idle_timer);
	return err;
}

static void begin_looking(struct msd_module *m)
{
	uint64_t again_ms;

	m->idle_timer.on_due = on_look;
	m->idleness.is_wanted = false;
	if (msd_sleep_begin(m, &again_ms)) {
		msd_deadline_set(m->group.registry->deadlines, &m->idle_timer,
				 again_ms);
	}
}

static void fall_asleep(struct msd_module *m)
{
	struct msd_repository *r = m->group.registry->repository;

	if ((msd_module_take_load(m, MSD_LOAD_SLEPT) & MSD_LOAD_LOOK) != 0 &&
	    !r->ops->find(r, m, false))
		(void)msd_module_take_load(m, MSD_LOAD_NO_COPY);
}

static void take(struct msd_module *m, const struct msd_life_event *e, const char *how)
{
	const enum msd_module_state was = m->life.state;
	struct msd_life_actions actions;

	msd_life_step(&m->life, e, uv_now(m->group.registry->loop), &actions);
	/* Before all workers are open, a load may still fail as a whole. */
	m->group.is_serving =
		m->life.n_open > 0 && m->life.state != MSD_STATE_LOADING &&
		m->life.state != MSD_STATE_TRIAL && m->life.state != MSD_STATE_ASLEEP;
	if (m->life.state != was)
		say_move(m, was);
	if (m->life.state == MSD_STATE_READY && m->life.state != was)
		begin_looking(m);
	if (m->life.state == MSD_STATE_ASLEEP && m->life.state != was)
		fall_asleep(m);
	msd_module_look(m); /* an action may free the module */
	for (uint32_t i = 0; i < actions.n; i++)
		msd_module_perform(m, &actions.all[i], how);
}

void msd_module_start(struct msd_module *m)
{
	msd_module_take_plain(m, MSD_LIFE_LOAD);
}

/* True if a client waits for the answer to its load. */
static bool has_loader(const struct msd_module *m)
{
	MSD_LIST_EACH (it, &m->waiters.waiting) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->method ==
		    MSD_M_MODULE_LOAD)
			return true;
	}
	return false;
}

void msd_module_fail(struct msd_module *m, msd_err err, const char *text)
{
	msd_module_set_error(m, err, text);
	take(m,
	     &(struct msd_life_event){.type = MSD_LIFE_UNREADABLE,
				      .has_loader = has_loader(m)},
	     "");
}

void msd_module_on_opened(struct msd_replica *rep)
{
	msd_deadline_clear(rep->group->registry->deadlines, &rep->timer);
	rep->is_open = true;
	if (rep->is_taken) {
		msd_process_stay(rep->process);
		msd_log(MSD_LOG_INFO, "worker_adopt",
			"name=%s worker=%u pid=%d resumed=yes", rep->group->name,
			rep->number, (int)msd_child_pid(rep->process->child));
	}
	msd_handover_artifact_keep(rep->group);
	msd_handover_ends_keep(&rep->process->warm, rep->group->registry,
			       rep->process->child);
	msd_module_start_work_for(rep, MSD_LIFE_OPENED);
}

/* Before the module is READY, its calls are its own self-tests. */
static bool is_peers(struct msd_module *m, const struct msd_blame *blame)
{
	return blame->who.kind != MSD_PEER_UNKNOWN &&
	       (m->life.state == MSD_STATE_READY ||
		m->life.state == MSD_STATE_RESTARTING) &&
	       !msd_bans_note(m, blame, MSD_RUN_GOES_ON, 0);
}

void msd_module_on_lost(struct msd_replica *rep, enum msd_loss loss,
			const struct msd_blame *blame, const char *how)
{
	struct msd_module *m = msd_module_of(rep->group);
	char who[MSD_PEER_TEXT_BYTES];

	msd_deadline_clear(rep->group->registry->deadlines, &rep->timer);
	if (m->life.state == MSD_STATE_READY || m->life.state == MSD_STATE_RESTARTING) {
		msd_log(MSD_LOG_WARN, "worker_lost",
			"name=%s worker=%u how=\"%s\"%s%s%s", m->group.name,
			rep->number, how,
			blame->who.kind != MSD_PEER_UNKNOWN ? " peer=\"" : "",
			blame->who.kind != MSD_PEER_UNKNOWN
				? msd_peer_id_text(blame->who, who)
				: "",
			blame->who.kind != MSD_PEER_UNKNOWN ? "\"" : "");
		msd_call_log_dump_tell_lost(&m->group);
	}
	take(m,
	     &(struct msd_life_event){.type = MSD_LIFE_LOST,
				      .worker = rep->number - 1,
				      .loss = loss,
				      .is_peers = is_peers(m, blame),
				      .has_loader = has_loader(m)},
	     how);
}

/* A worker is idle when no client waits for its answer; requests of clients that are
 * gone do not count. */
void msd_module_check_idle(struct msd_module *m)
{
	if (m->life.state != MSD_STATE_DRAINING &&
	    m->life.state != MSD_STATE_QUARANTINED)
		return;
	msd_direct_end_group(&m->group);
	if (m->group.n_queued > 0 || !msd_list_is_empty(&m->receiving))
		return;
	for (uint32_t i = 0; i < m->group.n_replicas; i++) {
		if (m->group.replicas[i].process != NULL &&
		    !msd_replica_is_awaited(&m->group.replicas[i]))
			msd_module_start_work_for(&m->group.replicas[i], MSD_LIFE_IDLE);
	}
}

void msd_module_unload(struct msd_module *m)
{
	msd_module_take_plain(m, MSD_LIFE_UNLOAD);
}

/* The store must not try a recorded candidate again at the next start. One that is not
 * recorded yet is withdrawn when it is. */
void msd_module_give_up(struct msd_module *m)
{
	struct msd_repository *r = m->group.registry->repository;

	if ((msd_module_take_load(m, MSD_LOAD_GIVEN_UP) & MSD_LOAD_TELL) != 0)
		r->ops->tried(r, m, false);
	msd_module_unload(m);
}
