#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "daemon/supervisor/module_life.h"
#include "daemon/supervisor/reply.h"
#include "daemon/supervisor/session.h"
#include "proto/unpack.h"
#include "proto/value.h"

/*
 * Requests of one session to one module form a lane, in order; lanes take turns, one
 * request each, so that a client with a long pipeline does not starve the others. The
 * worker has at most MSD_SEND_AHEAD at a time: enough to keep it busy, few enough to
 * stay fair and to lose little with it.
 */

static struct msd_lane *lane_for(struct msd_session *s, struct msd_module *m)
{
	MSD_LIST_EACH (it, &s->lanes) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_lane, session_link);
		if (lane->module == m)
			return lane;
	}
	struct msd_lane *lane = calloc(1, sizeof(*lane));
	if (lane == NULL)
		return NULL;
	lane->module = m;
	lane->session = s;
	msd_list_init(&lane->link);
	msd_list_init(&lane->requests);
	msd_list_append(&s->lanes, &lane->session_link);
	msd_list_append(&m->all_lanes, &lane->all_link);
	return lane;
}

static void refuse(struct msd_req *r, msd_err err, const char *text)
{
	msd_req_answer_error(r, err, text);
	msd_req_free(r);
}

static void set_ready_wait(struct msd_req *r)
{
	if (r->deadline.slot != 0)
		return;
	r->waits_for_ready =
		msd_deadline_set(&r->module->server->deadlines, &r->deadline,
				 r->module->server->limits.ready_wait_ms);
}

void msd_module_submit(struct msd_module *m, struct msd_req *r)
{
	r->module = m;
	if (m->state == MSD_STATE_FAILED || m->state == MSD_STATE_QUARANTINED) {
		/* Its own code, if it has one, is about the file, not about this call.
		 */
		refuse(r,
		       m->state == MSD_STATE_FAILED ? MSD_MODULE_FAILED : m->error_code,
		       m->error != NULL ? m->error : "the module failed");
		return;
	}
	/* What was admitted before the unload, its payload on the way, is still run. */
	if (m->state == MSD_STATE_DRAINING && !m->is_open) {
		refuse(r, MSD_DRAINING, "the module is being unloaded");
		return;
	}
	struct msd_lane *lane = lane_for(r->session, m);
	if (lane == NULL || r->params.bad) {
		refuse(r, MSD_NOMEM, "request: out of memory");
		return;
	}
	if (msd_list_is_empty(&lane->requests))
		msd_list_append(&m->lanes, &lane->link);
	msd_list_append(&lane->requests, &r->link);
	r->lane = lane;
	m->n_queued++;
	if (m->is_open)
		msd_module_pump(m);
	else
		set_ready_wait(r);
}

void msd_module_left_lane(struct msd_req *r)
{
	struct msd_lane *lane = r->lane;

	r->lane = NULL;
	lane->module->n_queued--;
	if (msd_list_is_empty(&lane->requests))
		msd_list_remove(&lane->link);
}

static void write_request(struct msd_out *o, struct msd_req *r)
{
	struct msd_server *s = r->module->server;
	bool has_deadline = r->deadline.slot != 0 && !r->waits_for_ready;
	bool has_names = r->names.n > 0;
	bool has_device = r->device.type != 0;
	bool has_instance = r->instance.generation != 0;
	size_t n = (size_t)has_deadline + has_names + has_device + has_instance;

	msd_body_begin_request(&o->body, r->wid, msd_method_row(r->method)->name,
			       n > 0);
	msd_buf_put(&o->body, r->params.p, r->params.n);
	if (n > 0)
		msd_pack_map(&o->body, n);
	if (has_device) {
		msd_pack_cstr(&o->body, "device");
		msd_pack_device(&o->body, r->device);
	}
	if (has_deadline) {
		msd_pack_cstr(&o->body, "deadline_ms");
		msd_pack_uint(&o->body, msd_deadline_left(&s->deadlines, &r->deadline));
	}
	if (has_instance) {
		msd_pack_cstr(&o->body, "instance");
		msd_pack_handle(&o->body, MSD_EXT_INSTANCE, r->instance);
	}
	if (has_names) {
		msd_pack_cstr(&o->body, "names");
		msd_buf_put(&o->body, r->names.p, r->names.n);
	}
}

static void post(struct msd_module *m, struct msd_req *r, struct msd_out *o)
{
	r->wid = ++m->next_wid;
	write_request(o, r);
	r->state = MSD_REQ_SENT;
	msd_list_append(&m->sent, &r->link);
	m->n_sent++;
	msd_conn_send(&m->process->channel, o);
}

static void send_one(struct msd_module *m, struct msd_lane *lane)
{
	struct msd_req *r = MSD_CONTAINER_OF(lane->requests.next, struct msd_req, link);
	struct msd_out *o = msd_out_new();

	msd_list_remove(&r->link);
	r->lane = NULL;
	m->n_queued--;
	msd_list_remove(&lane->link);
	if (!msd_list_is_empty(&lane->requests))
		msd_list_append(&m->lanes, &lane->link); /* behind the others */
	bool is_late = r->session == NULL && r->object != m->process;
	if (is_late) { /* its worker, and what it is about, are gone */
		msd_out_destroy(o);
		msd_req_free(r);
		return;
	}
	if (o == NULL) {
		refuse(r, MSD_NOMEM, "request: out of memory");
		return;
	}
	post(m, r, o);
}

static void ignore_response(struct msd_req *r, struct msd_in *in)
{
	(void)r;
	(void)in;
}

static struct msd_lane *lane_with_requests(struct msd_session *s, struct msd_module *m)
{
	if (s == NULL)
		return NULL;
	MSD_LIST_EACH (it, &s->lanes) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(it, struct msd_lane, session_link);
		if (lane->module == m && !msd_list_is_empty(&lane->requests))
			return lane;
	}
	return NULL;
}

void msd_module_tell(struct msd_module *m, struct msd_session *s,
		     enum msd_method method, const struct msd_buf *params)
{
	struct msd_req *r = m->is_open ? msd_req_new(NULL, 0, method) : NULL;
	struct msd_lane *lane = lane_with_requests(s, m);

	if (r == NULL)
		return;
	r->module = m;
	r->on_response = ignore_response;
	r->object = m->process;
	msd_buf_put(&r->params, params->p, params->n);
	if (lane != NULL) { /* what the session asked for before comes before */
		msd_list_append(&lane->requests, &r->link);
		r->lane = lane;
		m->n_queued++;
		return;
	}
	struct msd_out *o = msd_out_new();
	if (o != NULL)
		post(m, r, o);
	else
		msd_req_free(r);
}

void msd_lane_flush(struct msd_lane *lane)
{
	struct msd_module *m = lane->module;
	struct msd_list *it;

	while ((it = msd_list_first(&lane->requests)) != NULL) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		struct msd_out *o =
			m->is_open && r->object == m->process ? msd_out_new() : NULL;
		if (o == NULL) {
			msd_req_free(r);
			continue;
		}
		msd_list_remove(&r->link);
		r->lane = NULL;
		m->n_queued--;
		post(m, r, o);
	}
}

/* The worker is stuck in a call that overran its deadline: what is sent to it now may
 * be lost with it; what waits here is for the next worker. */
static bool is_stuck(struct msd_module *m)
{
	struct msd_list *first = msd_list_first(&m->sent);

	return first != NULL && MSD_CONTAINER_OF(first, struct msd_req, link)->state ==
					MSD_REQ_ABANDONED;
}

void msd_module_pump(struct msd_module *m)
{
	if (!m->is_open || msd_list_is_empty(&m->lanes) ||
	    m->n_sent >= MSD_SEND_AHEAD || is_stuck(m))
		return;
	msd_process_flush_releases(m->process);
	while (m->n_sent < MSD_SEND_AHEAD && !msd_list_is_empty(&m->lanes))
		send_one(m, MSD_CONTAINER_OF(m->lanes.next, struct msd_lane, link));
}

void msd_module_cancel_sent(struct msd_module *m, const struct msd_req *r)
{
	struct msd_out *o;

	if (m->process == NULL || r->on_response != NULL)
		return;
	o = msd_out_new();
	if (o == NULL)
		return; /* it runs to its end for nobody */
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 1);
	msd_pack_uint(&o->body, r->wid);
	msd_conn_send(&m->process->channel, o);
}

static void each_queued(struct msd_module *m, void (*visit)(struct msd_req *r))
{
	MSD_LIST_EACH (lane_it, &m->lanes) {
		struct msd_lane *lane =
			MSD_CONTAINER_OF(lane_it, struct msd_lane, link);
		MSD_LIST_EACH (it, &lane->requests) {
			visit(MSD_CONTAINER_OF(it, struct msd_req, link));
		}
	}
}

static void clear_ready_wait(struct msd_req *r)
{
	if (!r->waits_for_ready)
		return;
	r->waits_for_ready = false;
	msd_deadline_clear(&r->module->server->deadlines, &r->deadline);
}

void msd_module_ready_queued(struct msd_module *m)
{
	each_queued(m, clear_ready_wait);
}

void msd_module_wait_queued(struct msd_module *m)
{
	each_queued(m, set_ready_wait);
}

void msd_module_refuse_queued(struct msd_module *m, msd_err err, const char *text)
{
	struct msd_list *it;

	while ((it = msd_list_first(&m->lanes)) != NULL) {
		struct msd_lane *lane = MSD_CONTAINER_OF(it, struct msd_lane, link);
		refuse(MSD_CONTAINER_OF(lane->requests.next, struct msd_req, link), err,
		       text);
	}
}

/* Responses come in the order of sending, so this is nearly always the first. */
static struct msd_req *find_sent(struct msd_module *m, uint64_t wid)
{
	MSD_LIST_EACH (it, &m->sent) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, link);
		if (r->wid == wid)
			return r;
	}
	return NULL;
}

/* On the path of every call: read where it lies, without a tree. */
static void count_exec(struct msd_module *m, struct msd_in *in)
{
	struct msd_wire_value key, value;
	struct msd_cur c;
	uint32_t n;

	if (in->body.meta.n == 0 || !msd_map_open(in->body.meta, &c, &n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (msd_value_read(&c, &key, NULL) != MSD_OK || key.kind != MSD_K_STR ||
		    msd_value_read(&c, &value, NULL) != MSD_OK)
			return; /* a key of a later worker, with a value of its own */
		if (msd_span_is(key.as.str, "exec_ns") && value.kind == MSD_K_INT)
			m->exec_ns += (uint64_t)value.as.i;
	}
}

static void on_response(struct msd_module *m, struct msd_in *in)
{
	struct msd_req *r = find_sent(m, in->body.id);
	struct msd_diag d = {0};

	if (r == NULL) {
		msd_process_kill(m->process, "it answered what it was not asked");
		return;
	}
	if (r->on_response != NULL) {
		bool is_call = r->method != MSD_M_WORKER_OPEN;
		m->n_sent -= is_call ? 1u : 0u;
		msd_list_remove(&r->link);
		r->on_response(r, in);
		msd_req_free(r);
		if (is_call)
			msd_module_pump(m);
		return;
	}
	m->n_sent--;
	m->n_calls++;
	m->n_errors += msd_reply_is_ok(in) ? 0u : 1u;
	count_exec(m, in);
	if (!msd_reply_forward(r, m->process, in, &d))
		msd_process_kill(m->process, "it sent a malformed answer");
	msd_diag_finish(&d);
	msd_req_free(r);
	msd_module_pump(m);
	msd_module_check_idle(m);
}

static void on_segment(struct msd_module *m, struct msd_in *in)
{
	struct msd_diag d = {0};
	const msgpack_object *params;
	uint64_t index = 0, bytes = 0;
	int fd = msd_conn_take_fd(&m->process->channel);
	msd_err err = msd_unpack(&m->server->unpack, in->body.params, &params, &d);

	if (err == MSD_OK)
		err = msd_params_check(params, "worker.segment", 3, 3, &d);
	if (err == MSD_OK)
		err = msd_object_uint(&params->via.array.ptr[1], "index", UINT16_MAX,
				      &index, &d);
	if (err == MSD_OK)
		err = msd_object_uint(&params->via.array.ptr[2], "bytes", UINT64_MAX,
				      &bytes, &d);
	if (err == MSD_OK) /* consumes fd; refuses -1 */
		err = msd_segmap_add(&m->process->out, (uint16_t)index, fd, bytes,
				     false, &d);
	else if (fd >= 0)
		(void)close(fd);
	if (err != MSD_OK)
		msd_process_kill(m->process, "it passed a segment that is not one");
	msd_diag_finish(&d);
}

void msd_module_on_frame(struct msd_module *m, struct msd_in *in)
{
	if (in->body.kind == MSD_RESPONSE)
		on_response(m, in);
	else if (in->body.kind == MSD_NOTIFICATION &&
		 msd_method_find(in->body.method) == MSD_M_WORKER_SEGMENT)
		on_segment(m, in);
	else
		msd_process_kill(m->process,
				 "it sent a message that workers do not send");
}
