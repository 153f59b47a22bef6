#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/module/workers/opening.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply.h"
#include "daemon/supervisor/module/workers/reply_template.h"
#include "daemon/supervisor/module/workers/run_watch.h"
#include "daemon/supervisor/module/workers/segment_pass.h"
#include "daemon/supervisor/request/call_template.h"
#include "proto/unpack.h"
#include "proto/value.h"

/*
 * Messages on a worker's channel: daemon/worker/CHANNEL.md. Happy path: send
 * worker.open and the segments; post a request; find the request of a response by its
 * id, count it and forward it. Failures: an unexpected message or an unmatched answer
 * kills the worker; its requests are lost with it.
 */

#define UNKNOWN_US 1000000u
#define KEEP_JOB_BYTES 4096u /* a larger buffer is freed when sent */

void msd_replica_send_segment(void *ctx, uint16_t index, int fd, uint64_t bytes)
{
	struct msd_replica *rep = ctx;
	const msd_err err =
		msd_segment_pass_segment(rep->process, "in", index, fd, bytes);

	if (err == MSD_IO) {
		msd_replica_kill(rep, "no descriptor was left to pass it memory");
	} else if (err != MSD_OK) { /* the worker could not use slots of that segment */
		msd_replica_kill(rep, "there was no memory to pass it a segment");
	}
}

static struct msd_list *bucket_of(struct msd_replica *rep, uint64_t wid)
{
	return &rep->by_wid[wid % MSD_SENT_BUCKETS];
}

static void note_sent(struct msd_replica *rep, struct msd_req *r)
{
	r->at.replica = rep;
	r->at.wid = ++rep->next_wid;
	msd_req_apply(r, MSD_REQ_IS_SENT);
	if (msd_list_is_empty(&rep->sent))
		rep->head_since_ms = uv_now(rep->group->registry->loop);
	msd_list_append(&rep->sent, &r->link);
	if (rep->sent.next == &r->link)
		msd_run_watch_begin(rep);
	msd_list_append(bucket_of(rep, r->at.wid), &r->at.wid_link);
}

void msd_replica_send_open(struct msd_replica *rep)
{
	struct msd_out *o = msd_out_new();
	struct msd_req *r = msd_req_new(
		NULL, 0, rep->is_taken ? MSD_M_WORKER_RESUME : MSD_M_WORKER_OPEN);

	if (o == NULL || r == NULL) {
		msd_out_destroy(o);
		if (r != NULL)
			msd_req_release(r);
		msd_replica_kill(rep, "out of memory");
		return;
	}
	rep->group->ops->adopt(rep->group, r);
	note_sent(rep, r);
	r->job.on_response = msd_opening_done;
	msd_opening_write(o, r);
	msd_conn_send(&rep->process->channel, o);
}

static bool has_deadline(const struct msd_req *r)
{
	return msd_deadline_is_set(&r->due.node);
}

static size_t count_options(const struct msd_req *r)
{
	return (size_t)has_deadline(r) + r->at.n_passed + (r->job.device.type != 0) +
	       (r->job.instance.generation != 0) + r->at.is_traced;
}

static void write_options(struct msd_buf *body, const struct msd_req *r, size_t n)
{
	msd_pack_map(body, n);
	if (r->job.device.type != 0) {
		msd_pack_cstr(body, "device");
		msd_pack_device(body, r->job.device);
	}
	if (has_deadline(r)) {
		msd_pack_pair_uint(body, "deadline_ms",
				   msd_deadline_left(r->due.all, &r->due.node));
	}
	if (r->job.instance.generation != 0) {
		msd_pack_cstr(body, "instance");
		msd_pack_handle(body, MSD_EXT_INSTANCE, r->job.instance);
	}
	if (r->at.n_passed > 0)
		msd_buf_put(body, r->job.passed.p, r->job.passed.n);
	if (r->at.is_traced)
		msd_pack_pair_uint(body, "trace", r->at.since_ns);
}

static void write_request(struct msd_out *o, struct msd_req *r, size_t n)
{
	if (r->job.known != NULL) {
		msd_call_template_write(r, n > 0, &o->body);
	} else {
		msd_body_begin_request(&o->body, r->at.wid,
				       msd_method_row(r->method)->name, n > 0);
		msd_buf_put(&o->body, r->job.params.p, r->job.params.n);
	}
	if (n > 0)
		write_options(&o->body, r, n);
}

/* An unknown function counts as slow: no request is sent behind it that another
 * worker can take. */
static uint32_t expected_us(const struct msd_worker_group *group,
			    const struct msd_req *r)
{
	const uint32_t us = msd_worker_group_expect_us(group, r->client.who, r);

	return us != 0 ? us : UNKNOWN_US;
}

bool msd_replica_post(struct msd_replica *rep, struct msd_req *r)
{
	struct msd_conn *channel = &rep->process->channel;
	const size_t n_options = count_options(r);
	const uint32_t n_copied = msd_call_template_copied(r, n_options > 0);
	struct msd_out *o = NULL;
	uint8_t *at = NULL;

	msd_process_flush_releases(rep->process);
	if (r->lending != NULL && !msd_segment_pass_lent(rep->process, r))
		return false;
	if (n_copied > 0)
		at = msd_conn_put(channel, n_copied, NULL);
	if (at == NULL)
		o = msd_out_new();
	if (at == NULL && o == NULL)
		return false;
	msd_call_accounting_stage(r, rep->group, MSD_STAGE_QUEUE);
	note_sent(rep, r);
	if (at != NULL) {
		msd_call_template_copy(r, at);
	} else {
		write_request(o, r, n_options);
	}
	if (r->job.params.cap + r->job.passed.cap > KEEP_JOB_BYTES) {
		msd_buf_finish(&r->job.params);
		msd_buf_finish(&r->job.passed);
	}
	r->at.expected_us = expected_us(rep->group, r);
	rep->n_sent++;
	rep->ahead_us += r->at.expected_us;
	if (o != NULL)
		msd_conn_send(channel, o);
	return true;
}

void msd_replica_cancel(struct msd_req *r)
{
	const struct msd_replica *rep = r->at.replica;
	struct msd_out *o;

	if (rep == NULL || rep->process == NULL || r->job.on_response != NULL ||
	    r->at.is_cancelled)
		return;
	o = msd_out_new();
	if (o == NULL)
		return; /* the call runs to its end without a receiver */
	r->at.is_cancelled = true;
	msd_body_begin_notification(&o->body, "cancel");
	msd_pack_array(&o->body, 1);
	msd_pack_uint(&o->body, r->at.wid);
	msd_conn_send(&rep->process->channel, o);
}

/* A worker may answer in any order. */
static struct msd_req *find_sent(struct msd_replica *rep, uint64_t wid)
{
	MSD_LIST_EACH (it, bucket_of(rep, wid)) {
		struct msd_req *r = MSD_CONTAINER_OF(it, struct msd_req, at.wid_link);
		if (r->at.wid == wid)
			return r;
	}
	return NULL;
}

static void count_error(struct msd_worker_group *group, struct msd_req *r,
			const struct msd_in *in)
{
	struct msd_body_error e = {.code = MSD_INTERNAL};

	(void)msd_body_error_read(in->body.error, &e);
	group->n_errors += !msd_err_is_callers(e.code);
	group->n_failed += e.code == MSD_CALL_FAILED;
	r->client.code = (uint8_t)e.code;
}

/* Each call of a joined call, or run of a measured one, gets an equal part of the time.
 */
static void note_run(struct msd_worker_group *group, struct msd_req *r,
		     uint64_t exec_ns, uint64_t n_joined)
{
	msd_call_accounting_run(r, group, exec_ns);
	msd_worker_group_note_pace(group, r->client.who, r->at.function,
				   exec_ns / n_joined);
}

/* On the path of every call: parse in place, without a tree. */
static void count_exec(struct msd_worker_group *group, struct msd_req *r,
		       const struct msd_in *in)
{
	struct msd_wire_value key, value;
	uint64_t n_joined = 1;
	struct msd_cur c;
	uint32_t n;

	if (in->known != NULL) {
		const uint64_t ns =
			msd_memory_time((struct msd_span){in->bytes, in->n_bytes});
		if (ns <= INT64_MAX)
			note_run(group, r, ns, 1);
		return;
	}
	if (in->body.meta.n == 0 || !msd_map_open(in->body.meta, &c, &n))
		return;
	for (uint32_t i = 0; i < n; i++) {
		if (msd_value_read(&c, &key, NULL) != MSD_OK || key.kind != MSD_K_STR ||
		    msd_value_read(&c, &value, NULL) != MSD_OK)
			return; /* an unknown key of a newer worker */
		if (value.kind != MSD_K_INT || value.as.i < 0)
			continue;
		if ((msd_span_is(key.as.str, "joined") ||
		     msd_span_is(key.as.str, "runs")) &&
		    value.as.i > 0)
			n_joined = (uint64_t)value.as.i;
		if (msd_span_is(key.as.str, "exec_ns"))
			note_run(group, r, (uint64_t)value.as.i, n_joined);
	}
}

static bool is_opening(const struct msd_req *r)
{
	return r->method == MSD_M_WORKER_OPEN || r->method == MSD_M_WORKER_RESUME;
}

static void on_response(struct msd_replica *rep, struct msd_in *in)
{
	struct msd_worker_group *group = rep->group;
	struct msd_req *r = find_sent(rep, in->body.id);
	const bool was_known = in->known != NULL;
	struct msd_diag d = {0};

	if (r == NULL) {
		msd_replica_disbelieve(rep, "it answered an unknown request", NULL);
		return;
	}
	if (rep->sent.next == &r->link)
		rep->head_since_ms = uv_now(group->registry->loop);
	if (!is_opening(r)) {
		rep->n_sent--;
		rep->ahead_us -= r->at.expected_us;
	}
	if (r->job.on_response != NULL) {
		const bool is_open = is_opening(r);
		msd_list_remove(&r->link);
		msd_list_remove(&r->at.wid_link);
		r->job.on_response(r, in);
		msd_req_apply(r, MSD_REQ_RESPONDED);
		if (!is_open)
			group->ops->on_answered(group);
		return;
	}
	group->n_calls++;
	if (!msd_reply_is_ok(in))
		count_error(group, r, in);
	count_exec(group, r, in);
	/* Trace data differs in every answer. If the client lends memory, the result
	 * is in that memory. Neither answer can repeat. */
	const bool may_come_again =
		!was_known && !r->at.is_traced && r->lending == NULL;
	if (!msd_reply_forward(r, rep->process, in, &d)) {
		msd_replica_disbelieve(rep, "it sent a malformed answer", &d);
	} else if (may_come_again) {
		msd_reply_template_learn(rep->process, in);
	}
	msd_diag_finish(&d);
	msd_req_apply(r, MSD_REQ_RESPONDED);
	group->ops->on_answered(group);
}

static void on_segment(struct msd_replica *rep, struct msd_in *in)
{
	struct msd_diag d = {0};
	const msgpack_object *params;
	uint64_t index = 0, bytes = 0;
	msd_err err =
		msd_unpack(rep->group->registry->unpack, in->body.params, &params, &d);

	if (err == MSD_OK)
		err = msd_params_check(params, "worker.segment", 3, 3, &d);
	if (err == MSD_OK) {
		err = msd_object_uint(&params->via.array.ptr[1], "index",
				      MSD_MAX_SEGMENTS - 1, &index, &d);
	}
	if (err == MSD_OK) {
		err = msd_object_uint(&params->via.array.ptr[2], "bytes", UINT64_MAX,
				      &bytes, &d);
	}
	if (err == MSD_OK && bytes == 0) { /* the next message's descriptor */
		err = msd_segmap_remove(&rep->process->out, (uint16_t)index, &d);
	} else if (err == MSD_OK) {
		err = msd_segmap_add(&rep->process->out, (uint16_t)index,
				     msd_conn_adopt_fd(&rep->process->channel), bytes,
				     MSD_MAP_READ, &d);
	}
	if (err != MSD_OK)
		msd_replica_disbelieve(rep, "it passed an invalid segment", &d);
	msd_diag_finish(&d);
}

static void on_peer_gone(struct msd_replica *rep, const struct msd_in *in)
{
	if (msd_direct_reap(rep->process, in)) {
		rep->group->ops->on_answered(rep->group);
	} else {
		msd_replica_disbelieve(rep, "it reported an unknown direct channel",
				       NULL);
	}
}

void msd_replica_on_frame(struct msd_replica *rep, struct msd_in *in)
{
	if (in->body.kind == MSD_RESPONSE) {
		on_response(rep, in);
	} else if (in->body.kind == MSD_NOTIFICATION &&
		   msd_method_find(in->body.method) == MSD_M_WORKER_SEGMENT) {
		on_segment(rep, in);
	} else if (in->body.kind == MSD_NOTIFICATION &&
		   msd_method_find(in->body.method) == MSD_M_WORKER_PEER) {
		on_peer_gone(rep, in);
	} else {
		msd_replica_disbelieve(rep, "it sent an unknown message", NULL);
	}
}
