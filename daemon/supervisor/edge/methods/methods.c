/*
 * The table of the methods that the supervisor answers itself, and the methods that
 * are too small for their own file.
 *
 * Happy path: the options and parameters are parsed and counted, the handler fills
 * the result, and it is sent. A handler may reply later. Failures: the handler's
 * error is the reply; a notification has no reply.
 */
#include "daemon/supervisor/edge/methods/methods.h"

#include <stdio.h>
#include <stdlib.h>

#include "daemon/supervisor/edge/access/audit.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/edge/objects/object.h"
#include "daemon/supervisor/edge/session/frame_session.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/workers/facts.h"
#include "daemon/supervisor/module/workers/signature.h"
#include "proto/unpack.h"

#define N_NAMED 3u /* functions shown if no name is similar */

static msd_err ping(struct msd_method_call *c, struct msd_diag *d)
{
	(void)d;
	msd_pack_nil(&c->result);
	if (c->session->edge->registry->is_leaving) {
		c->has_meta = true;
		msd_pack_map(&c->result, 1);
		msd_pack_cstr(&c->result, "leaving");
		msd_pack_bool(&c->result, true);
	}
	return MSD_OK;
}

/* A queued request is answered CANCELLED at once. If it was sent, the worker drops it
 * unless it runs. A running call is killed if its options say so. */
static msd_err cancel(struct msd_method_call *c, struct msd_diag *d)
{
	uint64_t id;
	msd_err err =
		msd_object_uint(&c->params->via.array.ptr[0], "id", UINT64_MAX, &id, d);

	if (err != MSD_OK)
		return err;
	struct msd_req *r = msd_session_find(c->session, id);
	bool was_queued = r != NULL && r->state == MSD_REQ_QUEUED;
	if (r != NULL)
		msd_req_abandon(r, MSD_REQ_CANCELLED);
	msd_pack_bool(&c->result, was_queued);
	return MSD_OK;
}

static msd_err server_reload(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_edge *e = c->session->edge;

	return e->on_reload(e, &c->result, d);
}

static int shown_bytes(struct msd_span name)
{
	return (int)(name.n < 200 ? name.n : 200);
}

/* The error text has a similar name, else the first names of the module. */
static msd_err explain_no_function(const struct msd_module *m, struct msd_span name,
				   struct msd_diag *d)
{
	const struct msd_facts *f = &m->group.facts;
	const struct msd_span near = msd_facts_near_function(f, name);
	struct msd_buf b = {0};

	if (near.n > 0) {
		msd_buf_printf(&b, "; did you mean %.*s?", shown_bytes(near),
			       (const char *)near.p);
	}
	for (uint32_t i = 0; near.n == 0 && i < f->n_functions && i < N_NAMED; i++) {
		msd_buf_printf(&b, "%s %.*s", i == 0 ? "; it has" : ",",
			       shown_bytes(f->all[i].name),
			       (const char *)f->all[i].name.p);
	}
	if (near.n == 0 && f->n_functions > N_NAMED)
		msd_buf_printf(&b, " and %u more", f->n_functions - N_NAMED);
	msd_err err =
		b.bad ? msd_diag_no_memory(d)
		      : msd_diag_set(d, MSD_NOT_FOUND,
				     "module %s has no function %.*s%.*s",
				     m->group.name, shown_bytes(name),
				     (const char *)name.p, (int)b.n, (const char *)b.p);
	msd_buf_finish(&b);
	return err;
}

static msd_err function_get(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_module *m;
	struct msd_span name;
	struct msd_handle h;
	char *target = NULL;
	msd_err err = msd_method_module(c, &m, d);

	if (err == MSD_OK) {
		err = msd_object_str(&c->params->via.array.ptr[1], "function", &name,
				     d);
	}
	if (err == MSD_OK && !msd_facts_are_known(&m->group.facts)) {
		err = msd_diag_set(d, MSD_NOT_READY, "module %s is %s", m->group.name,
				   msd_module_state_name(m->life.state));
	}
	if (err == MSD_OK && msd_facts_function(&m->group.facts, name) == NULL)
		err = explain_no_function(m, name, d);
	if (err == MSD_OK && asprintf(&target, "%s:%.*s", m->group.name, (int)name.n,
				      (const char *)name.p) < 0)
		err = msd_diag_no_memory(d);
	if (err == MSD_OK) {
		err = msd_handles_add(&c->session->handles, MSD_K_FUNCTION, target, &h,
				      d);
	}
	if (err != MSD_OK) {
		free(target);
		return err;
	}
	msd_pack_handle(&c->result, MSD_EXT_FUNCTION, h);
	return MSD_OK;
}

static msd_err function_free(struct msd_method_call *c, struct msd_diag *d)
{
	struct msd_handle h;
	void *object = NULL;
	msd_err err = msd_object_handle(&c->params->via.array.ptr[0], "function",
					MSD_EXT_FUNCTION, &h, d);

	if (err == MSD_OK) {
		err = msd_handles_get(&c->session->handles, MSD_K_FUNCTION, h, &object,
				      d);
	}
	if (err != MSD_OK)
		return err;
	msd_handles_remove(&c->session->handles, h);
	free(object);
	msd_pack_nil(&c->result);
	return MSD_OK;
}

static msd_err instance_free(struct msd_method_call *c, struct msd_diag *d)
{
	msd_pack_nil(&c->result);
	return msd_object_free(c->session, c->in, MSD_K_INSTANCE, d);
}

static msd_err object_free(struct msd_method_call *c, struct msd_diag *d)
{
	msd_pack_nil(&c->result);
	return msd_object_free(c->session, c->in, MSD_K_OBJECT, d);
}

static msd_err tensor_free(struct msd_method_call *c, struct msd_diag *d)
{
	msd_pack_nil(&c->result);
	return msd_object_free(c->session, c->in, MSD_K_TENSOR, d);
}

/* Minimum and maximum number of parameters. */
static const struct {
	msd_method_handler run;
	uint32_t min, max;
} handlers[MSD_M_COUNT] = {
	[MSD_M_HELLO] = {msd_method_hello, 0, 1},
	[MSD_M_PING] = {ping, 0, 0},
	[MSD_M_CANCEL] = {cancel, 1, 1},
	[MSD_M_SERVER_INFO] = {msd_method_info, 0, 0},
	[MSD_M_SERVER_METRICS] = {msd_method_metrics, 0, 0},
	[MSD_M_SERVER_MONITOR] = {msd_method_monitor, 0, 1},
	[MSD_M_SERVER_SLOWLOG] = {msd_method_slowlog, 0, 0},
	[MSD_M_SERVER_RELOAD] = {server_reload, 0, 0},
	[MSD_M_CLIENT_LIST] = {msd_method_clients, 0, 0},
	[MSD_M_CLIENT_KILL] = {msd_method_kill, 1, 1},
	[MSD_M_ACL_WHOAMI] = {msd_method_whoami, 0, 0},
	[MSD_M_ACL_LIST] = {msd_method_acl_list, 0, 0},
	[MSD_M_ACL_LOG] = {msd_method_acl_log, 0, 0},
	[MSD_M_ACL_DRY_RUN] = {msd_method_dry_run, 2, 3},
	[MSD_M_MODULE_UPLOAD] = {msd_method_upload, 2, 4},
	[MSD_M_MODULE_LOAD] = {msd_method_load, 2, 3},
	[MSD_M_MODULE_PULL] = {msd_method_pull, 2, 3},
	[MSD_M_MODULE_READ] = {msd_method_read, 1, 2},
	[MSD_M_MODULE_ROLLBACK] = {msd_method_rollback, 1, 1},
	[MSD_M_MODULE_SLEEP] = {msd_method_sleep, 1, 1},
	[MSD_M_MODULE_UNLOAD] = {msd_method_unload, 1, 1},
	[MSD_M_STORE_LIST] = {msd_method_store, 0, 1},
	[MSD_M_STORE_VERIFY] = {msd_method_store, 0, 1},
	[MSD_M_STORE_COLLECT] = {msd_method_store, 0, 0},
	[MSD_M_STORE_PIN] = {msd_method_store, 2, 2},
	[MSD_M_MODULE_LIST] = {msd_method_list, 0, 0},
	[MSD_M_MODULE_DESCRIBE] = {msd_method_describe, 1, 1},
	[MSD_M_MODULE_WAIT] = {msd_method_wait, 1, 1},
	[MSD_M_MODULE_LOGS] = {msd_method_logs, 1, 2},
	[MSD_M_FUNCTION_LIST] = {msd_method_functions, 1, 1},
	[MSD_M_FUNCTION_GET] = {function_get, 2, 2},
	[MSD_M_FUNCTION_FREE] = {function_free, 1, 1},
	[MSD_M_INSTANCE_FREE] = {instance_free, 1, 65536},
	[MSD_M_OBJECT_FREE] = {object_free, 1, 65536},
	[MSD_M_CHANNEL_OPEN] = {msd_method_channel, 1, 1},
	[MSD_M_SEGMENT_ADD] = {msd_method_segment_add, 1, 1},
	[MSD_M_SEGMENT_REMOVE] = {msd_method_segment_remove, 1, 1},
	[MSD_M_TENSOR_FREE] = {tensor_free, 1, 65536},
};

/* True if the result must include calls on direct channels. */
static bool tells_of_calls(enum msd_method method)
{
	return method == MSD_M_MODULE_LIST || method == MSD_M_MODULE_DESCRIBE ||
	       method == MSD_M_SERVER_INFO || method == MSD_M_SERVER_SLOWLOG;
}

static msd_err run(struct msd_method_call *c, struct msd_diag *d)
{
	msd_method_handler handler =
		c->method < MSD_M_COUNT ? handlers[c->method].run : NULL;
	struct msd_span name = c->in->body.method;

	if (handler == NULL) {
		return msd_diag_set(
			d, MSD_UNKNOWN_METHOD,
			"no such method: %.*s (modserd --api lists the methods)",
			(int)(name.n < 80 ? name.n : 80), (const char *)name.p);
	}
	msd_err err = msd_request_options_read(c->in->body.options, c->method,
					       &c->options, d);
	if (err == MSD_OK) {
		err = msd_unpack(c->session->edge->unpack, c->in->body.params,
				 &c->params, d);
	}
	if (err == MSD_OK) {
		err = msd_params_check(c->params, msd_method_row(c->method)->name,
				       handlers[c->method].min, handlers[c->method].max,
				       d);
	}
	if (err != MSD_OK)
		return err;
	msd_audit_request(c->session, c->in, c->method);
	if (tells_of_calls(c->method))
		msd_direct_count_all(c->session->edge->registry);
	return handler(c, d);
}

/* True if the client got no direct channel and now calls through the daemon. */
static bool is_otherwise(enum msd_method method, msd_err err)
{
	return method == MSD_M_CHANNEL_OPEN &&
	       (err == MSD_BUSY || err == MSD_UNSUPPORTED || err == MSD_NOT_READY ||
		err == MSD_REFUSED);
}

void msd_method_run(struct msd_session *s, struct msd_in *in, enum msd_method method)
{
	struct msd_method_call c = {.session = s, .in = in, .method = method, .fd = -1};
	struct msd_diag d = {0};

	msd_err err = run(&c, &d);
	if (in->body.kind == MSD_REQUEST && is_otherwise(method, err)) {
		msd_frame_session_reply_otherwise(msd_frame_session_of(s), in->body.id,
						  &d);
	} else if (in->body.kind == MSD_REQUEST && err != MSD_OK) {
		msd_frame_session_reply_failure(msd_frame_session_of(s), in->body.id,
						&d);
	} else if (in->body.kind == MSD_REQUEST && !c.later) {
		msd_frame_session_reply_with(
			msd_frame_session_of(s), in->body.id,
			&(struct msd_frame_session_answer){.result = &c.result,
							   .has_meta = c.has_meta,
							   .fd = c.fd,
							   .shared = c.shared,
							   .part = c.shared_part});
	}
	msd_buf_finish(&c.result);
	msd_diag_finish(&d);
}
