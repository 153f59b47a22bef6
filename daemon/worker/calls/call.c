/*
 * A call: find the function, make the arguments, run it, write the results.
 *
 * Happy path: the target's name is looked up once and cached. Arguments become values
 * over the in segments (args.c). Tensors elsewhere are copied to the call's device
 * (stage.c). Compiled code runs, and its results go to out slots (results.c).
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "daemon/confine/crash.h"
#include "daemon/worker/calls/stage.h"
#include "daemon/worker/direct/ledger_writer.h"
#include "daemon/worker/gauges.h"
#include "daemon/worker/handlers.h"
#include "daemon/worker/objects/held_objects.h"
#include "daemon/worker/objects/instances.h"
#include "proto/base/clock.h"
#include "proto/name.h"
#include "runtime/module/check.h"
#include "runtime/module/instance.h"

#define OUT_TEXT_MAX 128

static msd_err find_func(struct msd_worker *w, struct msd_span target,
			 struct msd_func **ret, struct msd_diag *d)
{
	struct msd_span module, function;

	if (!msd_target_split(target, &module, &function)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "call: expected \"module:function\"");
	}
	if (!msd_span_is(module, w->name)) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "call: this worker has %s, not %.*s", w->name,
				    (int)module.n, (const char *)module.p);
	}
	return msd_funcs_find(&w->funcs, function, ret, d);
}

/* Find a function of an instance; it lives as long as the call's other memory. */
static msd_err find_instance_func(struct msd_worker *w, const struct msd_request *r,
				  struct msd_span target, struct msd_func **ret,
				  bool *ret_takes_out, struct msd_diag *d)
{
	struct msd_instance *instance =
		msd_instances_peek(&r->peer->instances, r->instance);
	struct msd_span module, function;
	struct msd_func *func;

	if (instance == NULL) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "instance handle %u.%u: the instance is gone",
				    r->instance.slot, r->instance.generation);
	}
	if (!msd_target_split(target, &module, &function)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "call: expected \"module:function\"");
	}
	func = msd_arena_alloc(&w->arena, sizeof(*func) + function.n + 1);
	if (func == NULL)
		return msd_diag_no_memory(d);
	*func = (struct msd_func){.style = MSD_FUNC_MODEL};
	memcpy(func->name, function.p, function.n);
	func->name[function.n] = '\0';
	*ret = func;
	return msd_instance_find(instance, func->name, &func->fn, ret_takes_out, d);
}

msd_err msd_call_invoke(struct msd_worker *w, struct msd_call *call,
			struct msd_any *ret, uint64_t *ret_ns, struct msd_diag *d)
{
	struct msd_dev *dev = call->queued;

	call->timed = dev != NULL && dev->ops->mark != NULL ? dev : NULL;
	call->entered_ns = msd_now_ns();
	if (call->timed != NULL)
		dev->ops->mark(dev, MSD_DEV_BEGIN);
	msd_crash_note("call of", call->func->name);
	msd_err err = msd_loaded_call(w->module, call->func->fn, call->args,
				      call->n_args, ret, d);
	msd_crash_note(NULL, NULL);
	if (call->timed != NULL)
		dev->ops->mark(dev, MSD_DEV_END);
	w->last_end_ns = msd_now_ns();
	*ret_ns = w->last_run_ns = w->last_end_ns - call->entered_ns;
	msd_func_learn(call->func, *ret_ns);
	return err;
}

/* Format @t as an out tensor of the command line: "float32[2,3]". */
static const char *out_text(const struct msd_dltensor *t, char out[static OUT_TEXT_MAX])
{
	char name[MSD_DTYPE_NAME_MAX];
	size_t at = (size_t)snprintf(out, OUT_TEXT_MAX, "%s[",
				     msd_dtype_format(t->dtype, name));

	for (int32_t i = 0; i < t->ndim && at < OUT_TEXT_MAX; i++) {
		at += (size_t)snprintf(out + at, OUT_TEXT_MAX - at, "%s%" PRId64,
				       i > 0 ? "," : "", t->shape[i]);
	}
	if (at < OUT_TEXT_MAX)
		(void)snprintf(out + at, OUT_TEXT_MAX - at, "]");
	return out;
}

/* Refuse to lose a result: the callee fills tensors, but it only got copies that are
 * freed with the call. Detected only for a call that returned nothing. */
static msd_err check_kept(const struct msd_call *call, const struct msd_any *result,
			  struct msd_diag *d)
{
	char text[OUT_TEXT_MAX];
	const struct msd_dltensor *t = NULL;
	uint32_t at = call->n_args;

	if (!call->takes_out || !call->sends_bytes || call->n_outs > 0 ||
	    call->has_resident || result->type != MSD_T_NONE)
		return MSD_OK;
	while (t == NULL && at > 0)
		t = msd_any_dltensor(&call->args[--at]);
	if (t == NULL) /* within a tuple */
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "it returned nothing and no argument is an out tensor, so "
			    "its output is lost; if it fills argument %u, give out:%s "
			    "instead (in Python out=array)",
			    at, out_text(t, text));
}

static void write_times(const struct msd_call *call, uint64_t exec_ns,
			struct msd_buf *out)
{
	const struct msd_call_times *t = &call->peer->worker->times;

	msd_pack_map(out, 3u + call->func->is_typed);
	if (call->func->is_typed) {
		msd_pack_cstr(out, "varied");
		msd_pack_bool(out, true);
	}
	msd_pack_pair_uint(out, "runs", t->n_runs);
	msd_pack_pair_uint(out, "exec_ns", exec_ns);
	msd_pack_cstr(out, "times");
	msd_pack_bin(out, t->mean_s, t->n * sizeof(*t->mean_s));
}

/* Write {"exec_ns": int}. A joined call also has the number of joined calls, and a
 * traced call the times before and after the run. */
static void write_meta(const struct msd_call *call, uint64_t exec_ns,
		       struct msd_buf *out)
{
	const uint64_t sent_ns = call->request->sent_ns;

	if (sent_ns == 0 && call->n_joined == 0) {
		if (call->func->is_typed) {
			msd_body_put_varied(out, exec_ns);
		} else {
			msd_body_put_timed(out, exec_ns);
		}
		return;
	}
	if (call->request->is_measured && call->n_joined > 0) { /* not a profile */
		write_times(call, exec_ns, out);
		return;
	}
	msd_pack_map(out, (sent_ns != 0 ? 4u : 1u) + (call->n_joined > 0));
	if (call->n_joined > 0)
		msd_pack_pair_uint(out, "joined", call->n_joined);
	if (sent_ns != 0) {
		const uint64_t inside_ns = msd_now_ns() - call->entered_ns;
		msd_pack_pair_uint(out, "to_worker_ns",
				   call->begun_ns > sent_ns ? call->begun_ns - sent_ns
							    : 0);
		msd_pack_pair_uint(out, "copy_in_ns",
				   call->entered_ns - call->begun_ns);
		msd_pack_pair_uint(out, "copy_out_ns",
				   inside_ns > exec_ns ? inside_ns - exec_ns : 0);
	}
	msd_pack_cstr(out, "exec_ns");
	msd_pack_u64(out, exec_ns);
}

msd_err msd_call_write_reply(struct msd_call *call, const struct msd_any *result,
			     uint64_t exec_ns, struct msd_buf *out, struct msd_diag *d)
{
	size_t begin = out->n;
	const bool waits = call->queued != NULL;
	const uint64_t queued_ns = waits ? msd_now_ns() : 0;

	msd_body_begin_result(out, call->request->id, true);
	msd_pack_array(out, 2);
	msd_pack_array(out, call->n_outs);
	for (const struct msd_call_out *o = call->outs; o != NULL; o = o->next)
		msd_pack_tensor(out, &o->tensor);
	msd_err err = msd_stage_outs(call, d);
	if (err == MSD_OK)
		err = msd_call_write_result(call, result, out, d);
	if (err == MSD_OK)
		err = msd_stage_wait(call, d);
	if (err != MSD_OK)
		return err;
	if (waits) { /* the call's queued work has run since */
		struct msd_worker *w = call->peer->worker;
		w->last_end_ns = msd_now_ns();
		w->last_run_ns = w->last_end_ns - call->entered_ns;
		exec_ns += w->last_end_ns - queued_ns;
		msd_cuda_graphs_report(w);
	}
	/* The device's own time excludes the copies and any sleep. */
	if (call->timed != NULL)
		(void)call->timed->ops->elapsed(call->timed, &exec_ns);
	write_meta(call, exec_ns, out);
	if (out->n - begin > MSD_MAX_BODY_BYTES) {
		return msd_diag_set(
			d, MSD_TOO_LARGE,
			"the result takes %zu bytes beside its tensors, more "
			"than %u",
			out->n - begin, MSD_MAX_BODY_BYTES);
	}
	return MSD_OK;
}

/* Get the arguments from the plan, or the @n values at @c. */
static msd_err get_args(struct msd_call *call, struct msd_cur *c, uint32_t n,
			struct msd_diag *d)
{
	return call->request->known != NULL ? msd_call_apply_args(call, d)
					    : msd_call_read_args(call, c, n, d);
}

/* A model's function may write its results where the reply has them, unless the client
 * gives places, which may overlap arguments. */
static msd_err invoke(struct msd_worker *w, struct msd_call *call, struct msd_any *ret,
		      uint64_t *ret_ns, struct msd_diag *d)
{
	struct msd_call_lender lender;

	if (!call->wants_objects || call->places != NULL)
		return msd_call_invoke(w, call, ret, ret_ns, d);
	msd_call_lend(call, &lender);
	const msd_err err = msd_call_invoke(w, call, ret, ret_ns, d);
	msd_result_memory_set(NULL);
	return err;
}

/* Run with @n arguments at @c; write the whole response to @out. */
static msd_err run(struct msd_worker *w, struct msd_call *call, struct msd_cur *c,
		   uint32_t n, struct msd_buf *out, struct msd_diag *d)
{
	struct msd_any result = msd_none();
	uint64_t exec_ns;
	msd_err err = get_args(call, c, n, d);

	if (err == MSD_OK && call->request->names.n > 0)
		err = msd_call_order_args(call, call->request->names, d);
	if (err == MSD_OK)
		err = msd_stage_check(call, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", call->func->name);
	err = call->request->is_measured
		      ? msd_call_measure(w, call, &result, &exec_ns, d)
		      : invoke(w, call, &result, &exec_ns, d);
	if (err != MSD_OK)
		return err;
	err = check_kept(call, &result, d);
	if (err == MSD_OK)
		err = msd_call_write_reply(call, &result, exec_ns, out, d);
	if (err == MSD_OK && call->peer->guest != NULL)
		err = msd_call_hand_over(call, d);
	msd_any_drop(&result);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s", call->func->name);
}

/* Find a function that a client holds; it lives as long as the call's other memory. A
 * library's checks its arguments itself. */
static msd_err find_held_func(struct msd_worker *w, const struct msd_request *r,
			      struct msd_handle h, struct msd_func **ret,
			      struct msd_diag *d)
{
	static const char name[] = "a function object";
	struct msd_func *func =
		msd_arena_alloc(&w->arena, sizeof(*func) + sizeof(name));

	if (func == NULL)
		return msd_diag_no_memory(d);
	memcpy(func->name, name, sizeof(name));
	const msd_err err = msd_held_objects_function(r->peer, h, &func->fn, d);
	if (err != MSD_OK)
		return err;
	const struct msd_call_rules *rules = func->fn->rules;
	func->style = rules != NULL ? rules->info.style : MSD_FUNC_PRIM;
	func->is_typed = rules == NULL || rules->is_typed;
	*ret = func;
	return MSD_OK;
}

/* Find the function; the arguments that follow stay in @c. */
static msd_err open_call(struct msd_worker *w, struct msd_request *r, struct msd_cur *c,
			 uint32_t *ret_n, struct msd_func **ret, bool *ret_takes_out,
			 struct msd_diag *d)
{
	uint32_t n;
	struct msd_wire_value target;

	if (!msd_array_open(r->params, c, &n) || n == 0 ||
	    msd_value_read(c, &target, d) != MSD_OK ||
	    (target.kind != MSD_K_STR && target.kind != MSD_K_OBJECT)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "call: expected [\"module:function\" | object, "
				    "argument...]");
	}
	*ret_n = n - 1;
	if (target.kind == MSD_K_OBJECT)
		return find_held_func(w, r, target.as.object.handle, ret, d);
	if (r->instance.generation != 0) {
		return find_instance_func(w, r, target.as.str, ret, ret_takes_out, d);
	}
	const msd_err err =
		r->func != NULL ? MSD_OK : find_func(w, target.as.str, &r->func, d);
	*ret = r->func;
	return err;
}

msd_err msd_handle_call(struct msd_worker *w, struct msd_request *r,
			struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c = {0};
	uint32_t n = 0;
	struct msd_func *func = r->func;
	bool takes_out = false;
	const uint64_t begun_ns = r->sent_ns != 0 ? msd_now_ns() : 0;
	msd_err err = MSD_OK;

	if (r->known == NULL)
		err = open_call(w, r, &c, &n, &func, &takes_out, d);
	if (err != MSD_OK)
		return err;
	if (r->known == NULL)
		msd_ledger_writer_name(w, r);
	struct msd_device device = msd_loaded_device(w->module);
	struct msd_dev *dev;
	if (r->device.type != 0)
		device = r->device;
	err = msd_loaded_reach(w->module, device, &dev, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "%s", func->name);
	struct msd_call call = {
		.peer = r->peer,
		.module = w->module,
		.device = device,
		.queued = dev,
		.request = r,
		.begun_ns = begun_ns,
		.func = func,
		.arena = &w->arena,
		.wants_objects = func->style == MSD_FUNC_MODEL || func->is_typed,
		.is_typed = func->is_typed,
		.takes_out = takes_out || func->style == MSD_FUNC_PRIM,
	};
	err = run(w, &call, &c, n, out, d);
	msd_call_finish(&call, err != MSD_OK);
	return err;
}
