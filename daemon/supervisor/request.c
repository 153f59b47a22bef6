#include "daemon/supervisor/request.h"

#include <stdlib.h>

#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/edge/session.h"

static void on_deadline(struct msd_deadline *node);

struct msd_req *msd_req_new(struct msd_session *s, uint64_t id, enum msd_method method)
{
	struct msd_req *r = calloc(1, sizeof(*r));

	if (r == NULL)
		return NULL;
	r->session = s;
	r->id = id;
	r->method = method;
	r->deadline.on_due = on_deadline;
	msd_list_init(&r->link);
	msd_list_init(&r->session_link);
	if (s != NULL) {
		msd_list_append(&s->requests, &r->session_link);
		s->n_in_flight++;
	}
	return r;
}

/* The session has its answer, or is gone: it owes this request nothing more. */
void msd_req_leave_session(struct msd_req *r)
{
	struct msd_session *s = r->session;

	if (s == NULL)
		return;
	if (r->holds)
		msd_lane_release(s, r->replica->process);
	r->holds = false;
	r->session = NULL;
	msd_list_remove(&r->session_link);
	s->n_in_flight--;
	msd_session_request_done(s);
}

void msd_req_orphan(struct msd_req *r)
{
	msd_req_leave_session(r);
	if (r->state == MSD_REQ_QUEUED)
		msd_req_free(r);
	else {
		msd_replica_cancel(r);
		msd_module_check_idle(r->module);
	}
}

void msd_req_need(struct msd_req *r, struct msd_process *p)
{
	msd_process_ref(p);
	msd_process_unref(r->needs);
	r->needs = p;
}

void msd_req_free(struct msd_req *r)
{
	struct msd_server *server = r->module != NULL    ? r->module->server
				    : r->session != NULL ? r->session->server
							 : NULL;

	msd_req_leave_session(r);
	msd_list_remove(&r->link);
	if (server != NULL)
		msd_deadline_clear(&server->deadlines, &r->deadline);
	if (r->has_slot &&
	    !msd_segpool_free(&r->module->in, r->slot.segment, r->slot.offset))
		abort(); /* our own allocator and our own slot */
	if (r->claimed_bytes > 0)
		msd_server_release_bytes(server, r->claimed_bytes);
	if (r->lane != NULL)
		msd_lane_left(r);
	msd_process_unref(r->needs);
	if (r->module != NULL)
		msd_module_check_idle(r->module);
	msd_buf_finish(&r->params);
	msd_buf_finish(&r->names);
	free(r);
}

void msd_req_answer_error(struct msd_req *r, msd_err err, const char *text)
{
	if (r->session == NULL)
		return;
	msd_session_reply_error(r->session, r->id, err, text);
	msd_req_leave_session(r);
}

void msd_req_answer(struct msd_req *r, const struct msd_buf *result)
{
	if (r->session == NULL)
		return;
	msd_session_reply(r->session, r->id, result);
	msd_req_leave_session(r);
}

void msd_req_answer_nil(struct msd_req *r)
{
	struct msd_buf nil = {0};

	msd_pack_nil(&nil);
	msd_req_answer(r, &nil);
	msd_buf_finish(&nil);
}

static void expire_queued(struct msd_req *r)
{
	struct msd_module *m = r->module;
	struct msd_diag d = {0};

	if (m->life.state == MSD_STATE_LOADING || m->life.state == MSD_STATE_RESTARTING)
		(void)msd_diag_set(&d, MSD_NOT_READY,
				   "module %s is %s and was not ready in time", m->name,
				   msd_module_state_name(m->life.state));
	else
		(void)msd_diag_set(
			&d, MSD_DEADLINE,
			"module %s: the deadline passed before the request was begun",
			m->name);
	msd_req_answer_error(r, d.code, msd_diag_text(&d));
	msd_diag_finish(&d);
	msd_req_free(r);
}

/*
 * QUEUED: answered, gone. SENT: the client is answered on time and the worker told; the
 * request stays, for its slot may still be written to. ABANDONED: if it is the one that
 * runs, the worker had its grace.
 */
static void on_deadline(struct msd_deadline *node)
{
	struct msd_req *r = MSD_CONTAINER_OF(node, struct msd_req, deadline);
	struct msd_module *m = r->module;

	if (r->state == MSD_REQ_QUEUED) {
		expire_queued(r);
		return;
	}
	if (r->state == MSD_REQ_SENT) {
		r->state = MSD_REQ_ABANDONED;
		msd_req_answer_error(
			r, MSD_DEADLINE,
			"the deadline passed while the module worked on it");
		msd_replica_cancel(r);
	} else if (r->replica->process != NULL && r->replica->sent.next == &r->link) {
		msd_replica_kill(r->replica, "a call overran its deadline");
		return;
	}
	(void)msd_deadline_set(&m->server->deadlines, node,
			       m->server->limits.kill_grace_ms);
}
