/*
 * Converts a client's request to one that a worker understands.
 *
 * Happy path of a call with tensors: if the call cache has a template, the call
 * follows it. Otherwise prepare finds the module and writes the parameters with the
 * target as text. One pass over the tensors checks their locations, translates
 * resident ones and records inline ones. place reserves memory for arguments and
 * outputs together and points the inline ones there. submit queues the request with
 * the module.
 *
 * Failures: a wrong request is rejected before anything is reserved. If there is no
 * room now, the result is MSD_WAIT, and place is called again when other requests are
 * done.
 */
#include "daemon/supervisor/edge/session/call.h"

#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/objects/object.h"
#include "daemon/supervisor/edge/objects/object_create.h"
#include "daemon/supervisor/edge/objects/session_segments.h"
#include "daemon/supervisor/edge/session/call_cache.h"
#include "daemon/supervisor/edge/session/request_options.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/queue/admit.h"
#include "daemon/supervisor/module/stats/call_accounting.h"
#include "daemon/supervisor/module/stats/call_stats.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply.h"
#include "daemon/supervisor/request/call_template.h"
#include "proto/name.h"
#include "proto/value.h"

#define KEEP_INLINES_BYTES 4096u /* a larger buffer is not kept */

/* The pass over the tensors in a request's parameters. Each tensor is read once. */
struct pass {
	struct msd_req *req;
	struct msd_buf *inlines; /* of struct msd_inline */
	uint64_t payload_bytes;
	struct msd_buf *places; /* of struct msd_session_segments_place */
	uint64_t out_bytes;
	bool has_resident;
};

/*
 * place_inlines() moves the tensor to the module's input segment when it has a place.
 */
static msd_err keep_inline(const struct pass *p, const struct msd_wire_tensor *t,
			   uint32_t at, struct msd_diag *d)
{
	if (t->bytes == 0 || (t->offset <= p->payload_bytes &&
			      t->bytes <= p->payload_bytes - t->offset)) {
		const struct msd_inline kept = {at, t->bytes > 0 ? t->offset : 0};
		msd_buf_put(p->inlines, &kept, sizeof(kept));
		return p->inlines->bad ? msd_diag_no_memory(d) : MSD_OK;
	}
	return msd_diag_set(
		d, MSD_BAD_REQUEST,
		"an inline tensor at offset %llu of %llu bytes is not inside the "
		"payload of %llu bytes",
		(unsigned long long)t->offset, (unsigned long long)t->bytes,
		(unsigned long long)p->payload_bytes);
}

static bool is_lent(const struct msd_wire_tensor *t)
{
	return t->where == MSD_AT_SEGMENT || t->segment != 0;
}

/* Translate an object of a library, whose ext data begins at @data. */
static msd_err use_object(struct pass *p, uint8_t *data, struct msd_diag *d)
{
	struct msd_handle h = msd_handle_read(data);
	const msd_err err = msd_object_use(p->req, MSD_K_OBJECT, h, &h, d);

	if (err == MSD_OK)
		msd_handle_write(h, data);
	return err;
}

/* Check the location of each tensor, translate resident tensors and sum the size of
 * the outputs. */
static msd_err take_ext(void *ctx, int8_t type, size_t at, size_t n, struct msd_diag *d)
{
	struct pass *p = ctx;
	uint8_t *data = p->req->job.params.p + at;
	struct msd_wire_tensor t;

	if (type == MSD_EXT_OBJECT)
		return use_object(p, data, d);
	if (type != MSD_EXT_TENSOR)
		return MSD_OK;
	msd_err err = msd_wire_tensor_read(data, n, &t, d);
	if (err != MSD_OK)
		return err;
	if (is_lent(&t))
		return msd_session_segments_point(p->req, &t, data, p->places, d);
	switch (t.where) {
	case MSD_AT_INLINE:
		return keep_inline(p, &t, (uint32_t)at, d);
	case MSD_AT_OUT:
		if (t.bytes > UINT64_MAX / 2 - p->out_bytes) {
			return msd_diag_set(d, MSD_TOO_LARGE,
					    "the outputs' sizes overflow");
		}
		p->out_bytes += t.bytes;
		return MSD_OK;
	case MSD_AT_RESIDENT:
		p->has_resident = true;
		err = msd_object_use(p->req, MSD_K_TENSOR, t.handle, &t.handle, d);
		if (err == MSD_OK)
			msd_handle_write(t.handle, data + 16);
		return err;
	case MSD_AT_SEGMENT:
	default:
		return MSD_OK;
	}
}

static msd_err scan_params(struct pass *p, struct msd_diag *d)
{
	struct msd_ext_visitor visitor = {.visit = take_ext, .ctx = p};
	size_t used;

	p->places->n = 0;
	const msd_err err = msd_scan_object(
		(struct msd_span){p->req->job.params.p, p->req->job.params.n}, &visitor,
		&used, d);
	return err == MSD_OK ? msd_session_segments_check_apart(p->places, d) : err;
}

/* Point the inline tensors at their places in the module's input segment. */
static void place_inlines(struct msd_req *r, const struct msd_buf *inlines)
{
	struct msd_inline t;

	for (size_t i = 0; i < inlines->n; i += sizeof(t)) {
		memcpy(&t, inlines->p + i, sizeof(t));
		msd_placement_point(&r->placement, r->job.params.p + t.at, t.offset);
	}
}

/* Read the target as "module:function" text, from text or from a function handle. */
static msd_err read_target(struct msd_session *s, const struct msd_wire_value *v,
			   struct msd_span *ret_target, struct msd_diag *d)
{
	void *object = NULL;

	if (v->kind == MSD_K_STR) {
		*ret_target = v->as.str;
		return MSD_OK;
	}
	if (v->kind != MSD_K_FUNCTION) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"call: the target must be \"module:function\", a function "
			"handle or a function object, got %s",
			msd_kind_name(v->kind));
	}
	msd_err err =
		msd_handles_get(&s->handles, MSD_K_FUNCTION, v->as.handle, &object, d);
	if (err == MSD_OK) {
		const char *text = object;
		*ret_target = msd_span_of(text);
	}
	return err;
}

/* The target is a function object, whose handle scan_params() translates. */
static msd_err write_object_call(struct msd_req *r, const struct msd_in *in,
				 struct msd_handle h, struct msd_diag *d)
{
	struct msd_span module = {0};
	msd_err err = msd_object_home(msd_session_of(r), h, &module, d);

	if (err == MSD_OK) {
		err = msd_module_require(msd_session_of(r)->edge->registry, module,
					 &r->module, d);
	}
	if (err != MSD_OK)
		return err;
	r->at.function = MSD_CALL_STATS_OTHER; /* it has no name */
	msd_call_accounting_again(r, &r->module->group);
	msd_buf_put(&r->job.params, in->body.params.p, in->body.params.n);
	return MSD_OK;
}

static msd_err write_call(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.params);
	struct msd_wire_value v;
	struct msd_span target = {0}, module, function;
	msd_err err = msd_value_read(&c, &v, d);

	if (err != MSD_OK)
		return err;
	uint32_t n = v.as.tuple.n;
	if (n == 0)
		return msd_diag_set(d, MSD_BAD_REQUEST, "call: no target");
	c = msd_cur_of(v.as.tuple.items);
	err = msd_value_read(&c, &v, d);
	if (err == MSD_OK && v.kind == MSD_K_OBJECT)
		return write_object_call(r, in, v.as.object.handle, d);
	if (err == MSD_OK)
		err = read_target(msd_session_of(r), &v, &target, d);
	if (err != MSD_OK)
		return err;
	if (!msd_target_split(target, &module, &function)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "call: target \"%.*s\" is not \"module:function\"",
				    (int)(target.n < 200 ? target.n : 200),
				    (const char *)target.p);
	}
	err = msd_module_require(msd_session_of(r)->edge->registry, module, &r->module,
				 d);
	if (err != MSD_OK)
		return err;
	if (r->method == MSD_M_CALL)
		msd_call_accounting_begin(r, &r->module->group, function);
	if (v.kind == MSD_K_STR) { /* unchanged */
		msd_buf_put(&r->job.params, in->body.params.p, in->body.params.n);
		return MSD_OK;
	}
	msd_pack_array(&r->job.params, n);
	msd_pack_str(&r->job.params, (const char *)target.p, target.n);
	msd_buf_put(&r->job.params, c.p, c.left);
	return MSD_OK;
}

/* The answer to a question about the module: it is not one of its calls. */
static void pass_on(struct msd_req *r, struct msd_in *in)
{
	struct msd_diag d = {0};

	if (!msd_reply_forward(r, r->at.replica->process, in, &d))
		msd_replica_disbelieve(r->at.replica, "it sent a malformed answer", &d);
	msd_diag_finish(&d);
}

/* module.plan: the worker reads the rest. */
static msd_err write_plan(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	struct msd_wire_value name;
	struct msd_cur items;
	uint32_t n;

	if (!msd_array_open(in->body.params, &items, &n) || n == 0 ||
	    msd_value_read(&items, &name, NULL) != MSD_OK || name.kind != MSD_K_STR) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected %s",
				    msd_method_row(r->method)->name,
				    msd_method_row(r->method)->params);
	}
	msd_buf_put(&r->job.params, in->body.params.p, in->body.params.n);
	return msd_module_require(msd_session_of(r)->edge->registry, name.as.str,
				  &r->module, d);
}

static msd_err write_params(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	if (r->method == MSD_M_CALL)
		return write_call(r, in, d);
	if (r->method == MSD_M_MODULE_PLAN || r->method == MSD_M_MODULE_PROFILE)
		r->job.on_response = pass_on;
	if (r->method == MSD_M_MODULE_PROFILE)
		return write_call(r, in, d);
	return r->method == MSD_M_MODULE_PLAN ? write_plan(r, in, d)
					      : msd_object_create_write(r, in, d);
}

static void pass_option(struct msd_req *r, const char *key, struct msd_span value)
{
	if (value.n == 0)
		return;
	msd_pack_cstr(&r->job.passed, key);
	msd_buf_put(&r->job.passed, value.p, value.n);
	r->at.n_passed++;
}

static msd_err use_options(struct msd_req *r, const struct msd_request_options *o,
			   struct msd_diag *d)
{
	r->job.device = o->device;
	r->due.is_clients = o->has_deadline;
	r->due.in_ms = o->deadline_ms;
	r->due.is_at_leave = o->kills_at_leave;
	pass_option(r, "names", o->names);
	pass_option(r, "repeat", o->repeat);
	r->at.is_unordered = o->is_unordered;
	/* A profile waits for all calls, so that it slows none. */
	r->at.is_background = o->is_background || r->method == MSD_M_MODULE_PROFILE;
	r->at.is_traced = o->is_traced && r->method == MSD_M_CALL;
	return o->has_instance ? msd_object_use(r, MSD_K_INSTANCE, o->instance,
						&r->job.instance, d)
			       : MSD_OK;
}

/* Parse all of @in. Whether the module accepts the request now is checked later. */
static msd_err read_request(struct pass *p, struct msd_in *in,
			    struct msd_request_options *options, struct msd_diag *d)
{
	struct msd_req *r = p->req;
	msd_err err = msd_request_options_read(in->body.options, r->method, options, d);

	if (err == MSD_OK)
		err = write_params(r, in, d);
	if (err == MSD_OK) {
		msd_module_adopt(r->module, r);
		err = use_options(r, options, d);
	}
	if (err == MSD_OK && (r->job.params.bad || r->job.passed.bad))
		err = msd_diag_no_memory(d);
	return err;
}

static msd_err check_state(const struct msd_module *m, struct msd_diag *d)
{
	return m->life.state != MSD_STATE_DRAINING
		       ? MSD_OK
		       : msd_diag_set(d, MSD_DRAINING, "module %s is being unloaded",
				      m->group.name);
}

/* Parse @in into the request of the pass, without a call template. */
static msd_err read_anew(struct msd_session *s, struct pass *p, struct msd_in *in,
			 struct msd_diag *d)
{
	struct msd_request_options options;
	msd_err err = read_request(p, in, &options, d);

	if (err == MSD_OK)
		err = check_state(p->req->module, d);
	p->inlines->n = 0;
	if (err == MSD_OK && in->body.n_tensors + in->body.n_objects > 0)
		err = scan_params(p, d);
	if (err == MSD_OK && !p->has_resident && p->req->lending == NULL)
		msd_call_cache_call(s, in, p->req, &options, p->out_bytes);
	return err;
}

/* Fill the request from the call template in @known. */
static msd_err read_again(struct pass *p, struct msd_known *known, struct msd_diag *d)
{
	const struct msd_call_template *plan = known->plan;
	struct msd_req *r = p->req;

	r->module = plan->module;
	msd_call_accounting_again(r, &r->module->group);
	msd_module_adopt(r->module, r);
	msd_call_template_follow(r, known);
	p->out_bytes = plan->out_bytes;
	return check_state(r->module, d);
}

static struct msd_req *req_new(struct msd_session *s, uint64_t id,
			       enum msd_method method, struct msd_diag *d)
{
	struct msd_req *r = msd_req_new(&s->client, id, method);

	if (r == NULL) {
		msd_counts_lost_call(&s->edge->counts, MSD_NOMEM);
		(void)msd_diag_no_memory(d);
	}
	return r;
}

/* @r is complete but for its payload, and its deadline counts from @begun_ms. */
static void receive(struct msd_req *r, uint64_t wanted_bytes, uint64_t begun_ms)
{
	r->placement.wanted_bytes = wanted_bytes;
	msd_req_hold(r, sizeof(*r) + r->job.params.cap + r->job.passed.cap);
	msd_list_append(&r->module->receiving, &r->link);
	if (r->due.is_clients) {
		msd_req_set_due_from(r, r->module->group.registry->deadlines, begun_ms,
				     r->due.in_ms);
	}
}

msd_err msd_call_prepare(struct msd_session *s, struct msd_in *in,
			 enum msd_method method, struct msd_req **ret,
			 struct msd_diag *d)
{
	struct msd_req *r = req_new(s, in->body.id, method, d);
	struct pass pass = {.req = r,
			    .inlines = &s->inlines,
			    .places = &s->places,
			    .payload_bytes = in->payload_bytes};

	if (r == NULL)
		return MSD_NOMEM;
	msd_err err = msd_call_cache_knows(s, in) ? read_again(&pass, in->known, d)
						  : read_anew(s, &pass, in, d);
	if (err != MSD_OK) {
		if (r->ops == NULL && method == MSD_M_CALL)
			msd_counts_lost_call(&s->edge->counts, err);
		msd_call_drop(r, err);
		return err;
	}
	receive(r, in->payload_bytes + pass.out_bytes, in->begun_ms);
	*ret = r;
	return MSD_OK;
}

msd_err msd_call_prepare_made(struct msd_session *s, struct msd_call_made *made,
			      struct msd_req **ret, struct msd_diag *d)
{
	struct msd_req *r = req_new(s, made->id, MSD_M_CALL, d);

	if (r == NULL)
		return MSD_NOMEM;
	r->job.params = *made->params;
	*made->params = (struct msd_buf){0};
	r->due.is_clients = made->has_deadline;
	r->due.in_ms = made->deadline_ms;
	msd_call_accounting_begin(r, &made->module->group, made->function);
	msd_module_adopt(made->module, r);
	const msd_err err = check_state(made->module, d);
	if (err != MSD_OK) {
		msd_call_drop(r, err);
		return err;
	}
	receive(r, made->payload_bytes + made->out_bytes, uv_now(s->edge->loop));
	*ret = r;
	return MSD_OK;
}

void msd_call_drop(struct msd_req *r, msd_err err)
{
	r->client.code = (uint8_t)err;
	msd_req_release(r);
}

msd_err msd_call_reserve(struct msd_session *s, struct msd_req *r,
			 uint64_t payload_bytes, struct msd_diag *d)
{
	msd_err err = msd_req_reserve(r, s->edge->budget, &r->module->group.in,
				      payload_bytes, d);

	if (err != MSD_OK || payload_bytes == 0 || r->job.known != NULL)
		return err;
	place_inlines(r, &s->inlines);
	if (s->inlines.cap > KEEP_INLINES_BYTES)
		msd_buf_finish(&s->inlines);
	return MSD_OK;
}

msd_err msd_call_restore(struct msd_session *s, struct msd_req *r,
			 uint64_t payload_bytes, uint64_t came_bytes,
			 struct msd_diag *d)
{
	const bool is_known = r->job.known != NULL;
	/* place() freed the list of inline tensors because it was large: those
	 * tensors stay where they are. */
	const bool stays = !is_known && s->inlines.n == 0;
	const msd_err err = msd_req_restore(r, payload_bytes, came_bytes, stays, d);

	if (err == MSD_OK && !is_known && payload_bytes > 0)
		place_inlines(r, &s->inlines);
	return err;
}

void msd_call_submit(struct msd_req *r)
{
	struct msd_module *m = r->module;

	msd_list_remove(&r->link); /* from `receiving` */
	msd_counts_call(&msd_session_of(r)->edge->counts);
	msd_call_accounting_stage(r, &m->group, MSD_STAGE_READ);
	msd_module_submit(m, r);
}
