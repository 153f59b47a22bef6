#include "daemon/supervisor/module/workers/replica.h"

#include <signal.h>
#include <stdio.h>

#include "daemon/exit_status.h"
#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/handover/handover.h"
#include "daemon/supervisor/module/handover/handover_key.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/stats/probe.h"
#include "daemon/supervisor/module/workers/loss.h"

/*
 * Happy path: start; worker.open is answered; requests are posted and answered; the
 * module kills it.
 *
 * Failures:
 *   - The process refuses the artifact, dies, or is not ready in time: lost.
 *   - It dies with requests: those are answered WORKER_LOST, or GPU_FAULT if its exit
 *     status says that it lost its device; then lost.
 *
 * The module decides about a loss: msd_worker_group_ops.on_lost.
 */

void msd_replica_init(struct msd_replica *rep, struct msd_worker_group *group,
		      uint32_t number)
{
	*rep = (struct msd_replica){.group = group, .number = number};
	msd_list_init(&rep->sent);
	for (uint32_t i = 0; i < MSD_SENT_BUCKETS; i++)
		msd_list_init(&rep->by_wid[i]);
	msd_list_init(&rep->client_queues);
}

void msd_replica_kill(struct msd_replica *rep, const char *reason)
{
	rep->is_taken = false; /* start no fresh process instead */
	if (rep->process != NULL)
		msd_process_kill(rep->process, reason);
}

void msd_replica_disbelieve(struct msd_replica *rep, const char *what,
			    const struct msd_diag *d)
{
	char reason[128];

	if (rep->process == NULL)
		return;
	(void)snprintf(reason, sizeof(reason), "%s%s%s", what, d != NULL ? ": " : "",
		       d != NULL ? msd_diag_text(d) : "");
	msd_conn_pause(&rep->process->channel, MSD_PAUSE_DISBELIEF, true);
	msd_process_kill(rep->process, reason);
}

void msd_replica_end_for(struct msd_replica *rep, enum msd_run_end why, uint64_t ran_ms)
{
	char reason[128];

	rep->ended_for = why;
	if (why == MSD_RUN_TOO_LONG) {
		(void)snprintf(reason, sizeof(reason),
			       "a call ran %llu ms, longer than max-run",
			       (unsigned long long)ran_ms);
	} else {
		(void)snprintf(
			reason, sizeof(reason), "%s",
			why == MSD_RUN_IN_WAY
				? "a call without a client kept other calls waiting"
				: "a call overran its deadline");
	}
	msd_replica_kill(rep, reason);
}

static void on_frame(struct msd_replica *rep, struct msd_in *in)
{
	msd_replica_on_frame(rep, in);
}

static void on_output(struct msd_replica *rep, const char *bytes, size_t n)
{
	rep->group->ops->on_output(rep->group, bytes, n);
}

static void on_process_lost(struct msd_replica *rep)
{
	msd_replica_on_lost(rep, NULL);
}

static const struct msd_process_ops process_ops = {
	.on_frame = on_frame,
	.on_output = on_output,
	.on_lost = on_process_lost,
};

static void begin(struct msd_replica *rep)
{
	struct msd_worker_group *group = rep->group;

	rep->ended_for = MSD_RUN_GOES_ON;
	if (!rep->is_taken && group->n_replicas > 1) {
		msd_shared_weights_pass(&group->weights, rep->process,
					group->source.bytes,
					group->registry->limits->max_worker_memory);
	}
	msd_replica_send_open(rep);
	msd_segpool_announce(&group->in, msd_replica_send_segment, rep);
}

static msd_err start_fresh(struct msd_replica *rep, struct msd_diag *d)
{
	const struct msd_worker_group *group = rep->group;
	struct msd_process *p;
	const msd_err err =
		msd_process_spawn(group->registry, group->name, group->source.fd,
				  &process_ops, rep, &p, d);

	rep->is_taken = false;
	rep->process = err == MSD_OK ? p : NULL;
	if (err != MSD_OK)
		return err;
	if (!msd_handover_key(group, msd_replica_index(rep), &p->warm.key)) {
		msd_handover_ends_cool(&p->warm,
				       group->registry); /* exits with the daemon */
	}
	begin(rep);
	return MSD_OK;
}

static bool take_over(struct msd_replica *rep)
{
	struct msd_module_registry *registry = rep->group->registry;
	struct msd_digest key;

	if (registry->warm.shelf.n == 0 ||
	    !msd_handover_key(rep->group, msd_replica_index(rep), &key))
		return false;
	rep->process = msd_handover_find(registry, &key, &process_ops, rep);
	if (rep->process == NULL)
		return false;
	rep->process->warm.key = key;
	rep->is_taken = true;
	begin(rep);
	return true;
}

msd_err msd_replica_start(struct msd_replica *rep, struct msd_diag *d)
{
	return take_over(rep) ? MSD_OK : start_fresh(rep, d);
}

bool msd_replica_is_awaited(const struct msd_replica *rep)
{
	MSD_LIST_EACH (it, &rep->sent) {
		if (MSD_CONTAINER_OF(it, struct msd_req, link)->client.who != NULL)
			return true;
	}
	return rep->process != NULL && !msd_list_is_empty(&rep->process->directs);
}

bool msd_replica_is_stuck(const struct msd_replica *rep)
{
	/* It has closed its channel: its exit status follows soon. */
	if (rep->process != NULL && (msd_conn_is_closing(&rep->process->channel) ||
				     msd_direct_is_stuck(rep->process)))
		return true;
	if (msd_list_is_empty(&rep->sent))
		return false;
	const struct msd_req *first =
		MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link);
	return first->at.left_ms != 0 && msd_replica_runs(rep, first);
}

bool msd_replica_runs(const struct msd_replica *rep, const struct msd_req *r)
{
	return rep->process != NULL && rep->sent.next == &r->link &&
	       !msd_direct_is_ahead(rep->process);
}

static void lose(struct msd_req *r, const struct msd_diag *why)
{
	const uint64_t n_calls = r->method == MSD_M_CALL ? 1u : 0u;

	msd_worker_group_lose(r->at.replica->group, n_calls);
	msd_req_answer_failure(r, why);
	msd_req_apply(r, MSD_REQ_LOST);
}

/* Answer the requests of the dead worker. @was_running: it ran the first one. It may
 * also have run later ones without sending their answers. */
static void lose_sent(struct msd_replica *rep, const struct msd_lost *lost,
		      bool was_running)
{
	struct msd_list *it;

	while ((it = msd_list_first(&rep->sent)) != NULL) {
		struct msd_diag d = {0};

		msd_loss_explain(rep->group->name, lost, was_running, &d);
		lose(MSD_CONTAINER_OF(it, struct msd_req, link), &d);
		msd_diag_finish(&d);
		was_running = false;
	}
	rep->n_sent = 0;
	rep->ahead_us = 0;
}

static enum msd_loss loss_of(const struct msd_replica *rep)
{
	const struct msd_child *child;

	if (rep->process == NULL)
		return MSD_LOSS_NOT_STARTED;
	child = rep->process->child;
	if (child->start_error != 0)
		return MSD_LOSS_NOT_STARTED;
	if (child->term_signal == 0 && child->exit_status == MSD_EXIT_GPU_FAULT)
		return MSD_LOSS_DEVICE;
	/* It may have died by itself before the kill. */
	if (rep->ended_for == MSD_RUN_GOES_ON || child->term_signal != SIGKILL)
		return MSD_LOSS_DEATH;
	return rep->ended_for == MSD_RUN_OVERDUE  ? MSD_LOSS_OVERRUN
	       : rep->ended_for == MSD_RUN_IN_WAY ? MSD_LOSS_IN_WAY
						  : MSD_LOSS_TOO_LONG;
}

static bool is_alone(const struct msd_replica *rep, const struct msd_req *first)
{
	const struct msd_blame own = msd_blame_of(first);

	MSD_LIST_EACH (it, &rep->sent) {
		const struct msd_blame other =
			msd_blame_of(MSD_CONTAINER_OF(it, struct msd_req, link));
		if (!msd_peer_id_is(own.who, other.who))
			return false;
	}
	return true;
}

/* Find the origin of the call that it ran when it died by itself. If it had joined
 * several calls, the culprit is unknown. */
static struct msd_blame blame_of(const struct msd_replica *rep)
{
	const struct msd_process *p = rep->process;
	struct msd_direct_run direct;

	if (p == NULL || !rep->is_open || msd_child_was_killed(p->child))
		return (struct msd_blame){0};
	if (msd_direct_find_run(p, &direct))
		return direct.blame;
	if (msd_direct_is_ahead(p) || msd_list_is_empty(&rep->sent))
		return (struct msd_blame){0};
	const struct msd_req *first =
		MSD_CONTAINER_OF(rep->sent.next, struct msd_req, link);
	return rep->group->run.batch_rows > 1 && !is_alone(rep, first)
		       ? (struct msd_blame){0}
		       : msd_blame_of(first);
}

/* A kept worker has not resumed: start a fresh one in its place. False: the start
 * failed. */
static bool begin_anew(struct msd_replica *rep, const char *how)
{
	struct msd_process *p = rep->process;
	struct msd_diag d = {0};

	msd_log(MSD_LOG_WARN, "worker_adopt", "name=%s worker=%u resumed=no how=\"%s\"",
		rep->group->name, rep->number, how);
	lose_sent(rep, &(struct msd_lost){.loss = MSD_LOSS_DEATH, .how = how}, true);
	const bool is_begun = start_fresh(rep, &d) == MSD_OK;
	msd_diag_finish(&d);
	if (is_begun) {
		msd_process_detach(p);
		msd_process_unref(p);
	} else {
		rep->process = p;
	}
	return is_begun;
}

void msd_replica_on_lost(struct msd_replica *rep, const char *how)
{
	struct msd_process *p = rep->process;
	struct msd_buf text = {0};

	if (p != NULL) {
		msd_buf_printf(&text, "%s",
			       p->child->start_error != 0 ? "worker: " : "");
		msd_process_describe_end(p, &text);
	} else {
		msd_buf_printf(&text, "%s", how);
	}
	msd_buf_put_u8(&text, 0);
	how = text.bad ? "out of memory" : (const char *)text.p;
	if (p != NULL && rep->is_taken && !rep->is_open && begin_anew(rep, how)) {
		msd_buf_finish(&text);
		return;
	}
	const struct msd_lost lost = {.loss = loss_of(rep),
				      .signal = p != NULL ? p->child->term_signal : 0,
				      .how = how};
	const enum msd_loss loss = lost.loss;
	const struct msd_blame blame = blame_of(rep);
	if (MSD_PROBE_IS_ON(worker__lost))
		msd_probe_worker_lost(rep->group->name, rep->number, loss, how);
	const bool was_running = p == NULL || !msd_direct_is_ahead(p);
	if (p != NULL)
		msd_direct_lose(p, &lost);
	msd_shared_weights_lost(&rep->group->weights, p);
	rep->is_open = false;
	rep->process = NULL;
	if (p != NULL) {
		if (loss == MSD_LOSS_NOT_STARTED)
			rep->group->ops->on_blamed(rep->group, MSD_IO, how);
		msd_process_detach(p);
		msd_process_unref(p);
	}
	msd_client_queues_unbind(rep);
	msd_deadline_clear(rep->group->registry->deadlines, &rep->run_timer);
	lose_sent(rep, &lost, was_running);
	rep->group->ops->on_lost(rep, loss, &blame, how);
	msd_buf_finish(&text);
}
