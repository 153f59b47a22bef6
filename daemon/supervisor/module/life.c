#include "daemon/supervisor/module/life.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/session.h"

/*
 * Happy path: the first worker opens the artifact, then the others do: READY; load
 * requests are answered; unload drains, kills, and the module is forgotten when the
 * last process is reaped. Failures:
 *  - a worker is lost before all were ready: the others are killed. Did it refuse the
 *    artifact, whoever loads it is told the whole cause, and the module is forgotten;
 *    without somebody to tell, or when it died, the module is FAILED, with its log
 *  - one is lost later: it alone is started again, at once for its first death, then
 * with back-off; the others go on. With none left the module is RESTARTING. Too many
 * deaths of all together: QUARANTINED, and the others end when they have answered
 *  - the worker lost its device (its exit status says so): the same, always at once
 */

#define HEALTHY_MS 60000u

static void move(struct msd_module *m, enum msd_module_state to)
{
	msd_log(MSD_LOG_INFO, "module", "name=%s state=%s was=%s", m->name,
		msd_module_state_name(to), msd_module_state_name(m->state));
	m->state = to;
}

void msd_module_keep_error(struct msd_module *m, msd_err err, const char *text)
{
	if (m->state == MSD_STATE_QUARANTINED)
		return; /* it says already why */
	free(m->error);
	m->error = strdup(text);
	m->error_code = err;
}

static void clear_error(struct msd_module *m)
{
	free(m->error);
	m->error = NULL;
}

static bool has_process(const struct msd_module *m)
{
	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (m->replicas[i].process != NULL)
			return true;
	return false;
}

void msd_module_kill(struct msd_module *m, const char *reason)
{
	for (uint32_t i = 0; i < m->n_replicas; i++)
		msd_replica_kill(&m->replicas[i], reason);
}

/* No worker is started any more, and none is killed for being slow to open. */
static void stop_timers(struct msd_module *m)
{
	for (uint32_t i = 0; i < m->n_replicas; i++)
		msd_deadline_clear(&m->server->deadlines, &m->replicas[i].timer);
}

uint64_t msd_module_load_time(const struct msd_module *m)
{
	uint64_t gone = uv_now(&m->server->loop) - m->load_ms;
	uint64_t most = m->server->limits.load_ms;

	if (m->state != MSD_STATE_LOADING)
		return most;
	return gone < most ? most - gone : 0;
}

void msd_module_start(struct msd_module *m)
{
	m->load_ms = uv_now(&m->server->loop);
	msd_replica_start(&m->replicas[0]);
}

/* The successor is READY: it takes the name, the old one drains. */
static void take_over(struct msd_module *m)
{
	struct msd_module *old = m->predecessor;

	if (old == NULL)
		return;
	m->predecessor = NULL;
	old->successor = NULL;
	msd_list_append(&m->server->modules, &m->link);
	msd_list_remove(&old->link);
	msd_module_unload(old);
}

static void become_ready(struct msd_module *m)
{
	clear_error(m);
	move(m, MSD_STATE_READY);
	take_over(m);
	msd_module_answer_waiters(m);
	msd_module_ready_queued(m);
	msd_module_pump(m);
}

/* The file is opened by one worker before the others try: what cannot be loaded, or
 * breaks its process, does so once. */
static void go_on_loading(struct msd_module *m)
{
	if (m->error != NULL)
		return; /* one has failed, and the others are being killed */
	if (m->n_open == m->n_replicas) {
		become_ready(m);
		return;
	}
	for (uint32_t i = 1; m->n_open == 1 && i < m->n_replicas; i++)
		msd_replica_start(&m->replicas[i]);
}

void msd_module_on_opened(struct msd_replica *rep)
{
	struct msd_module *m = rep->module;

	msd_deadline_clear(&m->server->deadlines, &rep->timer);
	rep->ready_ms = uv_now(&m->server->loop);
	rep->is_open = true;
	m->n_open++;
	if (m->state == MSD_STATE_LOADING) {
		go_on_loading(m);
	} else if (m->state == MSD_STATE_RESTARTING) {
		become_ready(m);
	} else {
		if (m->state == MSD_STATE_READY)
			clear_error(m);
		msd_module_pump(m);
		msd_module_check_idle(m);
	}
}

/* A client waits for the answer to its load. */
static bool is_loaders(const struct msd_module *m)
{
	MSD_LIST_EACH (it, &m->waiters) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->method ==
		    MSD_M_MODULE_LOAD)
			return true;
	}
	return false;
}

static void fail_load(struct msd_module *m)
{
	/* A refusal is told whole; of a death there are logs to ask for. A replacement
	 * that failed leaves no trace. */
	const bool is_forgotten =
		(!m->died_loading && is_loaders(m)) || m->predecessor != NULL;
	const char *why = m->error != NULL ? m->error : "out of memory";

	stop_timers(m);
	move(m, MSD_STATE_FAILED);
	msd_log(MSD_LOG_WARN, "load-failed", "name=%s why=\"%s\"", m->name, why);
	msd_module_answer_waiters(m);
	msd_module_refuse_queued(m, MSD_MODULE_FAILED, why);
	if (is_forgotten)
		msd_module_free(m);
}

static void on_lost_loading(struct msd_module *m, const char *how)
{
	struct msd_diag d = {0};

	if (m->error == NULL) {
		m->died_loading = true;
		(void)msd_diag_set(&d, MSD_MODULE_FAILED,
				   "load %s: the worker died before it was ready (%s)",
				   m->name, how);
		msd_module_keep_error(m, MSD_MODULE_FAILED, msd_diag_text(&d));
		msd_diag_finish(&d);
	}
	if (has_process(m))
		msd_module_kill(m, "another worker of its module failed to load");
	else
		fail_load(m);
}

/* True when the deaths of the last minute are too many. */
static bool note_death(struct msd_replica *rep)
{
	struct msd_module *m = rep->module;
	const uint32_t room = sizeof(m->deaths_ms) / sizeof(m->deaths_ms[0]);
	uint64_t now = uv_now(&m->server->loop);
	uint64_t max = m->server->limits.max_deaths;

	max = max < 1 ? 1 : max > room ? room : max;
	m->deaths_ms[m->n_deaths++ % room] = now;
	if (rep->ready_ms != 0 && now - rep->ready_ms > HEALTHY_MS)
		rep->n_backoffs = 0;
	if (m->n_deaths < max)
		return false;
	return now - m->deaths_ms[(m->n_deaths - max) % room] < 60000;
}

static void quarantine(struct msd_module *m, const char *how)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(
		&d, MSD_QUARANTINED,
		"module %s died too often, last: %s; load it again with replace "
		"when it is mended",
		m->name, how);
	msd_module_keep_error(m, MSD_QUARANTINED, msd_diag_text(&d));
	stop_timers(m);
	move(m, MSD_STATE_QUARANTINED);
	msd_module_answer_waiters(m);
	msd_module_refuse_queued(m, MSD_QUARANTINED, msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_module_check_idle(m);
}

/* After a fault of the device at once: nothing else than a fresh process clears it. */
static void restart(struct msd_replica *rep, enum msd_loss loss, const char *how)
{
	struct msd_module *m = rep->module;

	msd_log(MSD_LOG_WARN, "worker-lost", "name=%s worker=%u how=\"%s\"", m->name,
		rep->number, how);
	/* That no worker could be started is not the module's doing. */
	if (loss != MSD_LOSS_NOT_STARTED && note_death(rep)) {
		quarantine(m, how);
		return;
	}
	if (m->n_open == 0) {
		if (m->state != MSD_STATE_RESTARTING)
			move(m, MSD_STATE_RESTARTING);
		msd_module_wait_queued(m);
	}
	m->n_restarts++;
	msd_replica_restart(rep, loss == MSD_LOSS_DEVICE);
	msd_module_pump(m); /* what was bound to it can go to others */
}

static void finish_unload(struct msd_module *m)
{
	msd_module_refuse_queued(m, MSD_DRAINING, "the module is being unloaded");
	msd_module_answer_all(&m->waiters, MSD_DRAINING, "the module was unloaded");
	msd_module_answer_all(&m->unloaders, MSD_OK, NULL);
	msd_module_free(m);
}

static void on_lost_draining(struct msd_module *m)
{
	if (!has_process(m)) {
		finish_unload(m);
		return;
	}
	msd_module_pump(m);
	msd_module_check_idle(m);
}

void msd_module_on_lost(struct msd_replica *rep, enum msd_loss loss, const char *how)
{
	struct msd_module *m = rep->module;

	if (m->state == MSD_STATE_DRAINING)
		on_lost_draining(m);
	else if (m->state == MSD_STATE_LOADING)
		on_lost_loading(m, how);
	else if (m->state != MSD_STATE_QUARANTINED)
		restart(rep, loss, how);
}

static void on_drain_over(struct msd_deadline *node)
{
	struct msd_module *m = MSD_CONTAINER_OF(node, struct msd_module, drain);

	msd_module_refuse_queued(m, MSD_DRAINING, "the module was unloaded");
	msd_module_kill(m, "the module was unloaded");
}

/* Somebody waits for an answer; what runs for a client that is gone does not count. */
void msd_module_check_idle(struct msd_module *m)
{
	const char *why = m->state == MSD_STATE_DRAINING ? "the module was unloaded"
							 : "the module died too often";

	if ((m->state != MSD_STATE_DRAINING && m->state != MSD_STATE_QUARANTINED) ||
	    m->n_queued > 0 || !msd_list_is_empty(&m->receiving))
		return;
	for (uint32_t i = 0; i < m->n_replicas; i++)
		if (!msd_replica_is_awaited(&m->replicas[i]))
			msd_replica_kill(&m->replicas[i], why);
}

void msd_module_unload(struct msd_module *m)
{
	if (m->state == MSD_STATE_DRAINING)
		return;
	if (m->successor != NULL)
		msd_module_unload(m->successor);
	move(m, MSD_STATE_DRAINING);
	stop_timers(m);
	if (!has_process(m)) { /* FAILED, QUARANTINED, or between two workers */
		finish_unload(m);
		return;
	}
	m->drain.on_due = on_drain_over;
	(void)msd_deadline_set(&m->server->deadlines, &m->drain,
			       m->server->limits.drain_ms);
	msd_module_check_idle(m);
}
