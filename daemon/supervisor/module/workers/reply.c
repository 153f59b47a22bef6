#include "daemon/supervisor/module/workers/reply.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/limits.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/stats/trace.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply_objects.h"
#include "daemon/supervisor/module/workers/reply_slots.h"
#include "daemon/supervisor/module/workers/reply_template.h"
#include "daemon/supervisor/module/workers/worker_group.h"
#include "daemon/supervisor/request/client_segment.h"
#include "proto/unpack.h"

/*
 * Forward a worker's response to the client. Happy path: the body is copied. Its
 * tensors, which lie in the worker's out segments, become chunks of the frame and are
 * written from there. With the last byte their slots are released. For a known answer
 * the contents are cached, but not the places of its tensors.
 *
 * Failures:
 *   - No client waits: the slots are released at once.
 *   - The payload exceeds the limit of a frame: the client gets an error, and the slots
 *     are released.
 *   - The answer is malformed: it has a handle other than those of objects, which would
 * be another object's for the client; a tensor outside the result, or in an invalid
 * place or a slot that is being sent; or more bytes in replies than the worker may
 * have. The client gets an error, and the worker is killed.
 */

/* State of patching one result. */
struct patch {
	const struct msd_req *request;
	struct msd_process *process;
	struct msd_out *out; /* NULL: only collect the slots */
	uint8_t *bytes;      /* the result, to be patched */
	struct msd_reply_slots *held;
	uint32_t n_lent; /* tensors in client segments */
};

bool msd_reply_is_ok(const struct msd_in *in)
{
	return in->body.error.n == 1 && in->body.error.p[0] == 0xc0;
}

void msd_reply_error(const struct msd_in *in, struct msd_diag *d)
{
	struct msd_unpack u = {0};
	const msgpack_object *o = NULL;
	struct msd_span text;
	uint64_t code;

	if (msd_unpack(&u, in->body.error, &o, NULL) == MSD_OK &&
	    o->type == MSGPACK_OBJECT_ARRAY && o->via.array.size >= 3 &&
	    msd_object_uint(&o->via.array.ptr[0], "code", MSD_ERR_COUNT - 1, &code,
			    NULL) == MSD_OK &&
	    msd_object_str(&o->via.array.ptr[2], "text", &text, NULL) == MSD_OK) {
		(void)msd_diag_set_bytes(d, (msd_err)code, (const char *)text.p,
					 text.n);
	} else {
		(void)msd_diag_set(d, MSD_INTERNAL,
				   "the worker sent a malformed error");
	}
	msd_unpack_finish(&u);
}

/* All its replies together point to slots of their own, up to the limit that the
 * worker was given. */
static msd_err check_size(const struct patch *p, uint64_t bytes, struct msd_diag *d)
{
	const uint64_t max = p->process->registry->limits->max_memory;

	if (bytes > max - p->process->held_bytes) {
		return msd_diag_set(d, MSD_PROTOCOL, "results of more than %llu bytes",
				    (unsigned long long)max);
	}
	if (p->out != NULL && bytes > MSD_MAX_PAYLOAD_BYTES - p->out->payload_bytes) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the results are more than the %llu bytes that a "
				    "frame may have",
				    (unsigned long long)MSD_MAX_PAYLOAD_BYTES);
	}
	return MSD_OK;
}

/* The tensor is in a segment that the request named. The client has its own number
 * for it. */
static msd_err patch_lent(struct patch *p, const struct msd_wire_tensor *t, size_t at,
			  struct msd_diag *d)
{
	const struct msd_client_segment *loan = msd_segment_lookup_find(
		p->request->lending, (uint16_t)(t->segment - MSD_FIRST_LENT));

	if (loan == NULL || !loan->is_writable || t->offset > loan->bytes ||
	    t->bytes > loan->bytes - t->offset) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "a result's tensor has a location that the request "
				    "did not name");
	}
	p->n_lent++;
	msd_wire_tensor_patch(p->bytes + at, MSD_AT_SEGMENT, loan->name, t->offset);
	return MSD_OK;
}

/* @t has its place and size; its ext data begin at @at. */
static msd_err hold_tensor(struct patch *p, const struct msd_wire_tensor *t, size_t at,
			   struct msd_diag *d)
{
	const uint8_t *data = NULL;
	const msd_err err =
		msd_reply_slots_add(p->held, t->segment, t->offset, t->bytes, &data, d);

	if (err != MSD_OK || p->out == NULL)
		return err;
	const uint64_t offset = msd_out_add_piece(p->out, data, (size_t)t->bytes);
	if (offset == UINT64_MAX)
		return msd_diag_set(d, MSD_NOMEM, "reply: out of memory");
	msd_wire_tensor_patch(p->bytes + at, MSD_AT_INLINE, 0, offset);
	return MSD_OK;
}

static msd_err patch_tensor(struct patch *p, size_t at, size_t n, struct msd_diag *d)
{
	struct msd_wire_tensor t;
	msd_err err = msd_wire_tensor_read(p->bytes + at, n, &t, d);

	if (err == MSD_OK && t.where == MSD_AT_SEGMENT && t.segment >= MSD_FIRST_LENT)
		return patch_lent(p, &t, at, d);
	if (err == MSD_OK)
		err = check_size(p, t.bytes, d);
	if (err != MSD_OK)
		return err;
	if (t.where != MSD_AT_SEGMENT) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "a result's tensor is not in a segment");
	}
	return hold_tensor(p, &t, at, d);
}

static msd_err on_ext(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	return type == MSD_EXT_TENSOR ? patch_tensor(ctx, at, n, d) : MSD_OK;
}

/* Patch the tensors of @result, and hold their slots with @out (NULL: release them). */
static msd_err patch_result(const struct msd_req *r, struct msd_process *p,
			    struct msd_out *out, uint8_t *result, size_t n,
			    uint32_t n_tensors, struct msd_diag *d)
{
	struct msd_reply_slots *h = msd_reply_slots_new(p, n_tensors);
	struct patch patch = {
		.request = r, .process = p, .out = out, .bytes = result, .held = h};
	struct msd_ext_visitor visitor = {.visit = on_ext, .ctx = &patch};
	size_t used;

	if (h == NULL)
		return msd_diag_set(d, MSD_NOMEM, "reply: out of memory");
	msd_err err = msd_scan_object((struct msd_span){result, n}, &visitor, &used, d);
	if (err == MSD_OK && msd_reply_slots_count(h) + patch.n_lent < n_tensors) {
		err = msd_diag_set(d, MSD_PROTOCOL,
				   "a tensor that belongs to no result");
	}
	if (err != MSD_OK || out == NULL) {
		msd_reply_slots_end(h, false);
		return err;
	}
	out->on_done = msd_reply_slots_end;
	out->ctx = h;
	return MSD_OK;
}

/* The same for a known answer, whose bytes are in @out from @begin on. Its tensors
 * are where its template says, and fit. */
static msd_err patch_known(struct msd_process *p, struct msd_out *out, size_t begin,
			   const struct msd_reply_template *plan, struct msd_diag *d)
{
	struct msd_reply_slots *h = msd_reply_slots_new(p, plan->n_tensors);
	struct patch patch = {
		.process = p, .out = out, .bytes = out->body.p + begin, .held = h};
	msd_err err = MSD_OK;

	if (h == NULL)
		return msd_diag_set(d, MSD_NOMEM, "reply: out of memory");
	for (uint32_t i = 0; err == MSD_OK && i < plan->n_tensors; i++) {
		const uint32_t at = plan->tensors[i].at;
		struct msd_wire_tensor t;
		t.bytes = plan->tensors[i].bytes;
		(void)msd_wire_tensor_in_segment(patch.bytes + at, &t.segment,
						 &t.offset);
		err = check_size(&patch, t.bytes, d);
		if (err == MSD_OK)
			err = hold_tensor(&patch, &t, at, d);
	}
	if (err != MSD_OK) {
		msd_reply_slots_end(h, false);
		return err;
	}
	out->on_done = msd_reply_slots_end;
	out->ctx = h;
	return MSD_OK;
}

static msd_err refuse_handles(const struct msd_in *in, struct msd_diag *d)
{
	return in->body.n_handles == 0
		       ? MSD_OK
		       : msd_diag_set(d, MSD_PROTOCOL, "a response contains a handle");
}

/* True if the worker has broken the protocol and is no longer trusted. */
static bool is_malformed(msd_err err)
{
	return err == MSD_PROTOCOL || err == MSD_BAD_REQUEST;
}

static bool drop(const struct msd_req *r, struct msd_process *p, struct msd_in *in,
		 struct msd_diag *d)
{
	uint8_t *result = in->bytes + (in->body.result.p - in->bytes);
	msd_err err = refuse_handles(in, d);

	if (err == MSD_OK && in->body.n_objects > 0)
		err = msd_reply_objects_free(p, in, d);
	if (err == MSD_OK && in->body.n_tensors > 0) {
		err = patch_result(r, p, NULL, result, in->body.result.n,
				   in->body.n_tensors, d);
	}
	return !is_malformed(err);
}

/* Write the worker's meta data of the result, with the supervisor's if it is traced. */
static void write_meta(struct msd_out *o, const struct msd_req *r,
		       const struct msd_in *in)
{
	if (in->body.meta.n > 0 && r->at.is_traced) {
		msd_trace_write(r, in->body.meta,
				msd_call_accounting_now(r, r->at.replica->group),
				&o->body);
	} else {
		msd_buf_put(&o->body, in->body.meta.p, in->body.meta.n);
	}
}

/* Write the whole frame except its header. */
static msd_err write_reply(struct msd_out *o, struct msd_req *r, struct msd_process *p,
			   const struct msd_in *in, struct msd_diag *d)
{
	const uint64_t id = r->client.id;
	msd_err err = refuse_handles(in, d);

	if (err != MSD_OK)
		return err;
	if (in->known != NULL) {
		const size_t begin = o->body.n;
		msd_buf_put(&o->body, in->bytes, in->n_bytes);
		if (o->body.bad)
			return MSD_OK;
		msd_memory_set_id(o->body.p + begin, id);
		return in->known->plan != NULL
			       ? patch_known(p, o, begin, in->known->plan, d)
			       : MSD_OK;
	}
	msd_body_begin_response(&o->body, id, in->body.meta.n > 0);
	const size_t at = o->body.n + in->body.error.n;
	/* Error and result are adjacent. */
	msd_buf_put(&o->body, in->body.error.p, in->body.error.n + in->body.result.n);
	write_meta(o, r, in);
	if (o->body.bad)
		return in->body.n_objects == 0 ? MSD_OK : msd_diag_no_memory(d);
	if (in->body.n_tensors > 0) {
		err = patch_result(r, p, o, o->body.p + at, in->body.result.n,
				   in->body.n_tensors, d);
	}
	if (err != MSD_OK || in->body.n_objects == 0)
		return err;
	err = msd_reply_objects_give(r, in, o->body.p + at, d);
	if (err != MSD_OK && o->on_done != NULL) { /* the slots of its tensors */
		o->on_done(o->ctx, false);
		o->on_done = NULL;
	}
	return err;
}

/* A known answer has no handles. Without tensors it is the worker's answer with
 * another id. False: nothing was done. */
static bool put_known(struct msd_req *r, const struct msd_in *in)
{
	struct msd_client *who = r->client.who;
	struct msd_call_stats *t =
		r->method == MSD_M_CALL ? r->at.replica->group->call_stats : NULL;
	uint8_t *at = who->ops->put != NULL
			      ? who->ops->put(who, in->n_bytes,
					      t != NULL ? &t->written : NULL)
			      : NULL;

	if (at == NULL)
		return false;
	if (t != NULL)
		(void)msd_call_stats_ref(t);
	memcpy(at, in->bytes, in->n_bytes);
	msd_memory_set_id(at, r->client.id);
	return true;
}

bool msd_reply_forward(struct msd_req *r, struct msd_process *p, struct msd_in *in,
		       struct msd_diag *d)
{
	struct msd_out *o;

	if (in->known != NULL && in->known->plan != NULL &&
	    (r->client.who == NULL || !msd_reply_template_fits(in)))
		msd_reply_template_leave(in);
	if (r->client.who == NULL)
		return drop(r, p, in, d);
	if (in->known != NULL && in->known->plan == NULL && put_known(r, in)) {
		msd_req_leave_client(r);
		return true;
	}
	o = msd_out_new();
	if (o == NULL) {
		msd_req_answer_error(r, MSD_NOMEM, "reply: out of memory");
		return drop(r, p, in, d);
	}
	msd_err err = write_reply(o, r, p, in, d);
	if (err == MSD_OK) {
		if (r->method == MSD_M_CALL)
			msd_call_stats_time(r->at.replica->group->call_stats, o);
		r->client.who->ops->forward(r->client.who, r, o);
		msd_req_leave_client(r);
		return true;
	}
	msd_out_destroy(o);
	if (!is_malformed(err) && in->body.n_objects > 0)
		(void)!msd_reply_objects_free(p, in, NULL);
	if (is_malformed(err)) {
		msd_req_answer_error(r, MSD_INTERNAL,
				     "the worker's answer was malformed");
	} else {
		msd_req_answer_failure(r, d);
	}
	return !is_malformed(err);
}
