#include "daemon/supervisor/module/life/module.h"

#include <stdlib.h>

#include "daemon/supervisor/module/handover/handover_artifact.h"
#include "daemon/supervisor/module/life/self_test_plan.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/stats/log_ring.h"
#include "daemon/supervisor/source/source_job.h"

/* The parts of a module besides its life cycle: it answers waiters according to its
 * state, and it is freed at the end. */

/* Detach the module: no timer fires for it, and no lookup finds it. */
static void leave(struct msd_module *m)
{
	struct msd_module_registry *registry = m->group.registry;

	msd_deadline_clear(registry->deadlines, &m->drain);
	msd_deadline_clear(registry->deadlines, &m->bring_timer);
	msd_deadline_clear(registry->deadlines, &m->probation_end);
	msd_deadline_clear(registry->deadlines, &m->idle_timer);
	msd_deadline_clear(registry->deadlines, &m->group.ready_timer);
	msd_self_test_free(m->trial, registry->deadlines);
	m->trial = NULL;
	msd_source_job_free(m->bringing);
	m->bringing = NULL;
	m->serial = 0;
	msd_list_remove(&m->link);
	registry->generation++;
	if (m->predecessor != NULL)
		m->predecessor->successor = NULL;
	if (m->successor != NULL)
		m->successor->predecessor = NULL;
	m->predecessor = m->successor = NULL;
}

void msd_module_free(struct msd_module *m)
{
	struct msd_module_registry *registry = m->group.registry;

	leave(m);
	msd_task_cancel(&m->group.refusal);
	while (!msd_list_is_empty(&m->receiving)) {
		struct msd_req *r =
			MSD_CONTAINER_OF(m->receiving.next, struct msd_req, link);
		msd_req_refuse(r, MSD_DRAINING, "the module was unloaded");
	}
	while (!msd_list_is_empty(&m->group.all_client_queues)) {
		msd_client_queue_free(MSD_CONTAINER_OF(m->group.all_client_queues.next,
						       struct msd_client_queue,
						       all_link));
	}
	msd_waiters_finish(&m->waiters);
	msd_waiters_finish(&m->unloaders);
	msd_waiters_finish(&m->followers);
	msd_segpool_finish(&m->group.in);
	msd_handover_artifact_cool(&m->group);
	msd_source_finish(&m->group.source);
	msd_shared_weights_finish(&m->group.weights);
	msd_facts_finish(&m->group.facts);
	msd_peer_latencies_finish(&m->group.paces);
	msd_call_log_leave(&registry->call_log, m->group.call_stats);
	msd_call_log_leave(&registry->slow_log, m->group.call_stats);
	msd_call_stats_unref(m->group.call_stats);
	free(m->group.name);
	free(m->group.file);
	free(m->error);
	msd_failed_edition_finish(&m->failed_edition);
	free(m->log);
	free(m->group.replicas);
	free(m->group.choices);
	free(m->life.workers);
	free(m);
	registry->n_modules--;
	registry->on_gone(registry);
}

void msd_module_refused(struct msd_module *m)
{
	if (!m->is_over || !msd_list_is_empty(&m->group.refused))
		return;
	msd_waiters_tell(&m->followers);
	if (msd_waiters_are_behind(&m->followers) ||
	    msd_waiters_are_behind(&m->waiters))
		return;
	msd_waiters_tell(&m->unloaders);
	if (!msd_waiters_are_behind(&m->unloaders))
		msd_module_free(m);
}

void msd_module_end(struct msd_module *m)
{
	m->is_over = true;
	leave(m);
	msd_module_refused(m);
}

void msd_module_answer_all(struct msd_list *requests, msd_err err, const char *text)
{
	struct msd_list *it;

	while ((it = msd_list_first(requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		if (err == MSD_OK) {
			msd_req_answer_nil(r);
		} else {
			msd_req_answer_error(r, err, text);
		}
		msd_req_release(r);
	}
}

static bool is_awaited(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_TRIAL ||
	       m->life.state == MSD_STATE_RESTARTING;
}

static void answer_waiter(const struct msd_module *m, struct msd_req *r)
{
	struct msd_buf b = {0};

	if (m->life.state == MSD_STATE_DRAINING) {
		msd_req_answer_error(r, MSD_DRAINING, "the module was unloaded");
	} else if (m->life.state == MSD_STATE_READY ||
		   m->life.state == MSD_STATE_ASLEEP) {
		msd_pack_map(&b, 4);
		msd_pack_cstr(&b, "name");
		msd_pack_cstr(&b, m->group.name);
		msd_pack_cstr(&b, "state");
		msd_pack_cstr(&b, msd_module_state_name(m->life.state));
		msd_pack_cstr(&b, "functions");
		msd_pack_uint(&b, m->group.facts.n_functions);
		msd_facts_put_model(&m->group.facts, &b);
		msd_req_answer(r, &b);
		msd_buf_finish(&b);
	} else {
		msd_req_answer_error(r, m->error_code,
				     m->error != NULL ? m->error
						      : "the module is unloaded");
	}
	msd_req_release(r);
}

/* The module may have lost its last worker since it was READY. */
static void tell_waiter(struct msd_waiters *f, struct msd_req *r)
{
	const struct msd_module *m = MSD_CONTAINER_OF(f, struct msd_module, waiters);

	if (is_awaited(m)) {
		msd_waiters_wait(f, r);
	} else {
		answer_waiter(m, r);
	}
}

static void tell_unloader(struct msd_waiters *f, struct msd_req *r)
{
	(void)f;
	msd_req_answer_nil(r);
	msd_req_release(r);
}

static void on_waiters_told(struct msd_waiters *f)
{
	msd_module_refused(MSD_CONTAINER_OF(f, struct msd_module, waiters));
}

static void on_unloaders_told(struct msd_waiters *f)
{
	msd_module_refused(MSD_CONTAINER_OF(f, struct msd_module, unloaders));
}

static void on_followers_told(struct msd_waiters *f)
{
	msd_module_refused(MSD_CONTAINER_OF(f, struct msd_module, followers));
}

void msd_module_open(struct msd_module *m)
{
	struct msd_tasks *tasks = m->group.registry->deadlines->tasks;

	msd_waiters_init(&m->waiters, tasks, tell_waiter);
	msd_waiters_init(&m->unloaders, tasks, tell_unloader);
	msd_waiters_init(&m->followers, tasks, msd_log_ring_tell);
	m->waiters.on_told = on_waiters_told;
	m->unloaders.on_told = on_unloaders_told;
	m->followers.on_told = on_followers_told;
}

void msd_module_answer_waiters(struct msd_module *m)
{
	msd_waiters_tell(&m->waiters);
}

const char *msd_module_why_draining(const struct msd_module *m)
{
	return m->is_replaced ? "the module was replaced, and its former worker ended "
				"before this call started: send the call again"
			      : "the module is being unloaded";
}

void msd_module_wait(struct msd_module *m, struct msd_req *r)
{
	if (is_awaited(m)) {
		msd_waiters_wait(&m->waiters, r);
	} else if (m->life.state == MSD_STATE_DRAINING) {
		msd_req_refuse(r, MSD_DRAINING, msd_module_why_draining(m));
	} else
		answer_waiter(m, r);
}

uint32_t msd_module_in_flight(const struct msd_module *m)
{
	uint32_t n = m->group.n_queued;

	for (uint32_t i = 0; i < m->group.n_replicas; i++)
		n += m->group.replicas[i].n_sent;
	return n;
}
