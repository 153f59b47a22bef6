#include "daemon/supervisor/edge/instance.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/reply.h"
#include "proto/value.h"

struct msd_instance_ref {
	struct msd_handle mine;      /* the session's */
	struct msd_handle theirs;    /* the worker's */
	struct msd_process *process; /* one reference */
	char module[MSD_MAX_NAME_BYTES + 1];
};

/* Have the worker free an instance that nobody can name any more. */
static void forget(struct msd_session *s, struct msd_process *p,
		   struct msd_handle theirs)
{
	struct msd_buf params = {0};

	if (p->replica != NULL && msd_process_is_running(p)) {
		msd_pack_array(&params, 1);
		msd_pack_handle(&params, MSD_EXT_INSTANCE, theirs);
		msd_replica_tell(p->replica, s, MSD_M_INSTANCE_FREE, &params);
	}
	msd_buf_finish(&params);
}

void msd_instance_drop(struct msd_session *s, struct msd_instance_ref *i)
{
	msd_handles_remove(&s->handles, i->mine);
	forget(s, i->process, i->theirs);
	msd_lane_release(s, i->process);
	msd_process_unref(i->process);
	free(i);
}

static msd_err read_made(struct msd_in *in, struct msd_handle *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, d);
		return d->code;
	}
	if (msd_value_read(&c, &v, d) != MSD_OK || v.kind != MSD_K_INSTANCE)
		return msd_diag_set(d, MSD_INTERNAL,
				    "the worker's answer was malformed");
	*ret = v.as.handle;
	return MSD_OK;
}

/* The session owns the instance from here on; without a session nobody does. */
static msd_err adopt(struct msd_req *r, struct msd_handle theirs,
		     struct msd_handle *ret, struct msd_diag *d)
{
	struct msd_instance_ref *i = calloc(1, sizeof(*i));
	msd_err err = i != NULL && r->session != NULL
			      ? msd_handles_add(&r->session->handles, MSD_K_INSTANCE, i,
						&i->mine, d)
			      : msd_diag_set(d, MSD_NOMEM, "instance: out of memory");

	if (err != MSD_OK) {
		forget(r->session, r->replica->process, theirs);
		free(i);
		return err;
	}
	i->theirs = theirs;
	i->process = r->replica->process;
	msd_process_ref(i->process);
	msd_lane_hold(r->session, i->process);
	(void)strncpy(i->module, r->module->name, sizeof(i->module) - 1);
	*ret = i->mine;
	return MSD_OK;
}

static void on_made(struct msd_req *r, struct msd_in *in)
{
	struct msd_handle h = {0};
	struct msd_diag d = {0};
	struct msd_buf b = {0};
	msd_err err = read_made(in, &h, &d);

	if (err == MSD_OK)
		err = adopt(r, h, &h, &d);
	if (err != MSD_OK) {
		msd_req_answer_error(r, err, msd_diag_text(&d));
	} else {
		msd_pack_handle(&b, MSD_EXT_INSTANCE, h);
		msd_req_answer(r, &b);
	}
	msd_buf_finish(&b);
	msd_diag_finish(&d);
}

msd_err msd_instance_write(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur c;
	struct msd_wire_value name;
	uint32_t n;

	if (!msd_array_open(in->body.params, &c, &n) || n != 1 ||
	    msd_value_read(&c, &name, d) != MSD_OK || name.kind != MSD_K_STR)
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "module.instance: expected [name]");
	r->on_response = on_made;
	msd_buf_put(&r->params, in->body.params.p, in->body.params.n);
	return msd_module_require(r->session->server, name.as.str, &r->module, d);
}

static msd_err find(struct msd_session *s, struct msd_handle h,
		    struct msd_instance_ref **ret, struct msd_diag *d)
{
	void *object = NULL;
	msd_err err = msd_handles_get(&s->handles, MSD_K_INSTANCE, h, &object, d);

	if (err == MSD_OK)
		*ret = object;
	return err;
}

msd_err msd_instance_use(struct msd_req *r, struct msd_handle h, struct msd_diag *d)
{
	const struct msd_module *m = r->module;
	struct msd_instance_ref *i;
	msd_err err = find(r->session, h, &i, d);

	if (err != MSD_OK)
		return err;
	if (strcmp(i->module, m->name) != 0)
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the instance is one of module %s, the call is to "
				    "module %s",
				    i->module, m->name);
	if (i->process->replica == NULL || i->process->replica->module != m)
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "the instance was lost with the worker of module "
				    "%s",
				    m->name);
	msd_req_need(r, i->process);
	r->instance = i->theirs;
	return MSD_OK;
}

msd_err msd_instance_free(struct msd_session *s, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur c;
	struct msd_wire_value v;
	struct msd_instance_ref *i;
	uint32_t n;

	if (!msd_array_open(in->body.params, &c, &n))
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "instance.free: expected [instance...]");
	for (uint32_t k = 0; k < n; k++) {
		msd_err err = msd_value_read(&c, &v, d);
		if (err == MSD_OK && v.kind != MSD_K_INSTANCE)
			err = msd_diag_set(d, MSD_BAD_REQUEST,
					   "instance.free: parameter %u is a %s", k,
					   msd_kind_name(v.kind));
		if (err == MSD_OK)
			err = find(s, v.as.handle, &i, d);
		if (err != MSD_OK)
			return err;
		msd_instance_drop(s, i);
	}
	return MSD_OK;
}
