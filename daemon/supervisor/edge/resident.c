#include "daemon/supervisor/edge/resident.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/reply.h"
#include "proto/unpack.h"

msd_err msd_resident_translate(struct msd_req *r, struct msd_handle h, uint8_t *out,
			       struct msd_diag *d)
{
	const struct msd_module *m = r->module;
	void *object = NULL;
	msd_err err =
		msd_handles_get(&r->session->handles, MSD_K_TENSOR, h, &object, d);

	if (err != MSD_OK)
		return err;
	const struct msd_resident *t = object;
	if (strcmp(t->module, m->name) != 0)
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the resident tensor lives with module %s, the call is to "
			"module %s: copy it there first",
			t->module, m->name);
	if (t->process->replica == NULL || t->process->replica->module != m)
		return msd_diag_set(
			d, MSD_STALE_HANDLE,
			"the resident tensor was lost with the worker of module %s",
			m->name);
	msd_req_need(r, t->process);
	msd_handle_write(t->theirs, out);
	return MSD_OK;
}

/* Have the worker free a tensor that nobody can name any more. */
static void forget(struct msd_session *s, struct msd_process *p,
		   struct msd_handle theirs)
{
	/* Only the handle counts, but a reader refuses what is no tensor. */
	struct msd_wire_tensor wt = {.where = MSD_AT_RESIDENT,
				     .dtype = {MSD_DT_UINT, 8, 1},
				     .bytes = 1,
				     .handle = theirs};
	struct msd_buf params = {0};

	if (p->replica != NULL && msd_process_is_running(p)) {
		msd_pack_array(&params, 1);
		msd_pack_tensor(&params, &wt);
		msd_replica_tell(p->replica, s, MSD_M_TENSOR_FREE, &params);
	}
	msd_buf_finish(&params);
}

void msd_resident_drop(struct msd_session *s, struct msd_resident *t)
{
	msd_handles_remove(&s->handles, t->mine);
	forget(s, t->process, t->theirs);
	msd_lane_release(s, t->process);
	msd_process_unref(t->process);
	free(t);
}

static msd_err read_allocated(struct msd_in *in, struct msd_wire_tensor *ret,
			      struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, d);
		return d->code;
	}
	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_TENSOR ||
	    msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, d) != MSD_OK ||
	    ret->where != MSD_AT_RESIDENT)
		return msd_diag_set(d, MSD_INTERNAL,
				    "the worker's answer was malformed");
	return MSD_OK;
}

/* The session owns the tensor from here on; without a session nobody does. */
static msd_err adopt(struct msd_req *r, struct msd_wire_tensor *wt, struct msd_diag *d)
{
	struct msd_resident *t = calloc(1, sizeof(*t));
	msd_err err = MSD_NOMEM;

	if (t == NULL || r->session == NULL)
		goto fail;
	err = msd_handles_add(&r->session->handles, MSD_K_TENSOR, t, &t->mine, d);
	if (err != MSD_OK)
		goto fail;
	t->theirs = wt->handle;
	t->process = r->replica->process;
	msd_process_ref(t->process);
	msd_lane_hold(r->session, t->process);
	(void)strncpy(t->module, r->module->name, sizeof(t->module) - 1);
	wt->handle = t->mine;
	return MSD_OK;
fail:
	forget(r->session, r->replica->process, wt->handle);
	free(t);
	return err;
}

static void on_allocated(struct msd_req *r, struct msd_in *in)
{
	struct msd_wire_tensor wt;
	struct msd_diag d = {0};
	struct msd_buf b = {0};
	msd_err err = read_allocated(in, &wt, &d);

	if (err == MSD_OK)
		err = adopt(r, &wt, &d);
	if (err != MSD_OK) {
		msd_req_answer_error(r, err, msd_diag_text(&d));
	} else {
		msd_pack_tensor(&b, &wt);
		msd_req_answer(r, &b);
	}
	msd_buf_finish(&b);
	msd_diag_finish(&d);
}

/* tensor.copy answers nil, a tensor with its bytes, or (to a device) a new resident
 * one. */
static void on_copied(struct msd_req *r, struct msd_in *in)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;
	struct msd_wire_tensor wt;
	struct msd_diag d = {0};

	if (msd_reply_is_ok(in) && msd_value_read(&c, &v, &d) == MSD_OK &&
	    v.kind == MSD_K_TENSOR &&
	    msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &wt, &d) == MSD_OK &&
	    wt.where == MSD_AT_RESIDENT)
		on_allocated(r, in);
	else if (!msd_reply_forward(r, r->replica->process, in, &d))
		msd_replica_kill(r->replica, "it sent a malformed answer");
	msd_diag_finish(&d);
}

/* The resident tensor behind a value; NULL for other values. */
static msd_err resident_of(struct msd_session *s, const struct msd_wire_value *v,
			   struct msd_resident **ret, struct msd_diag *d)
{
	struct msd_wire_tensor wt;
	void *object = NULL;

	*ret = NULL;
	if (v->kind != MSD_K_TENSOR)
		return MSD_OK;
	msd_err err = msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, &wt, d);
	if (err != MSD_OK || wt.where != MSD_AT_RESIDENT)
		return err;
	err = msd_handles_get(&s->handles, MSD_K_TENSOR, wt.handle, &object, d);
	if (err == MSD_OK)
		*ret = object;
	return err;
}

/* tensor.copy and tensor.free name no module: the first resident tensor does. */
static msd_err use_module_of_tensors(struct msd_req *r, struct msd_cur items,
				     uint32_t n, struct msd_diag *d)
{
	for (uint32_t i = 0; i < n; i++) {
		struct msd_wire_value v;
		struct msd_resident *t;
		msd_err err = msd_value_read(&items, &v, d);
		if (err == MSD_OK)
			err = resident_of(r->session, &v, &t, d);
		if (err != MSD_OK)
			return err;
		if (t != NULL) {
			const struct msd_span name = {(const uint8_t *)t->module,
						      strlen(t->module)};
			return msd_module_require(r->session->server, name, &r->module,
						  d);
		}
	}
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%s: no resident tensor among the parameters",
			    msd_method_row(r->method)->name);
}

msd_err msd_resident_write(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.params);
	struct msd_wire_value v;
	msd_err err = msd_value_read(&c, &v, d);

	if (err != MSD_OK)
		return err;
	uint32_t n = v.as.tuple.n;
	c = msd_cur_of(v.as.tuple.items);
	if (r->method == MSD_M_TENSOR_ALLOC) {
		err = msd_value_read(&c, &v, d);
		if (err == MSD_OK && v.kind != MSD_K_STR)
			err = msd_diag_set(d, MSD_BAD_REQUEST,
					   "tensor.alloc: expected a module's name");
		if (err == MSD_OK)
			err = msd_module_require(r->session->server, v.as.str,
						 &r->module, d);
		r->on_response = on_allocated;
	} else {
		err = use_module_of_tensors(r, c, n, d);
		r->on_response = on_copied;
	}
	msd_buf_put(&r->params, in->body.params.p, in->body.params.n);
	return err;
}

msd_err msd_resident_free(struct msd_session *s, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.params);
	struct msd_wire_value v;
	struct msd_resident *t;
	msd_err err = msd_value_read(&c, &v, d);

	if (err != MSD_OK)
		return err;
	uint32_t n = v.as.tuple.n;
	c = msd_cur_of(v.as.tuple.items);
	for (uint32_t i = 0; i < n; i++) {
		err = msd_value_read(&c, &v, d);
		if (err == MSD_OK)
			err = resident_of(s, &v, &t, d);
		if (err == MSD_OK && t == NULL)
			err = msd_diag_set(
				d, MSD_BAD_REQUEST,
				"tensor.free: parameter %u is not a resident tensor",
				i);
		if (err != MSD_OK)
			return err;
		msd_resident_drop(s, t);
	}
	return MSD_OK;
}
