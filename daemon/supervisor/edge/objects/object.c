/*
 * Happy path:
 *   - msd_object_add: an object of a worker gets a handle of the session
 *   - msd_object_use: a call names it and is sent to that worker with the worker's
 * handle
 *   - msd_object_free: the handle is removed, and the worker frees the object
 *
 * Failures:
 *   - the session has ended or has too many handles: the worker frees the object at
 * once
 *   - the worker dies: the handle stays and is stale until the client frees it
 */
#include "daemon/supervisor/edge/objects/object.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/queue/client_queue.h"
#include "daemon/supervisor/module/queue/queue.h"
#include "proto/value.h"

struct msd_object {
	enum msd_kind kind;
	struct msd_handle mine;      /* the session's */
	struct msd_handle theirs;    /* the worker's */
	struct msd_process *process; /* one reference */
	uint64_t bytes;              /* size of a tensor */
	uint64_t *counted; /* total of its user, which includes @bytes; NULL: no user */
	char module[MSD_MAX_NAME_BYTES + 1];
};

/* The texts for each kind of object. */
static const struct noun {
	const char *name;
	const char *elsewhere; /* advice if the object lives with another module */
} tensor = {"resident tensor", ": copy it there first"}, instance = {"instance", ""};

static const struct noun *noun_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR ? &tensor : &instance;
}

static enum msd_client_object held_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR ? MSD_CLIENT_OBJECT_TENSOR
				    : MSD_CLIENT_OBJECT_INSTANCE;
}

void msd_object_drop(struct msd_object *o, struct msd_object_release *f)
{
	msd_object_release_add(f, o->process, o->kind, o->theirs);
	if (f->client != NULL) {
		msd_client_queue_release(f->client, o->process, held_of(o->kind),
					 o->bytes);
	}
	if (o->counted != NULL)
		*o->counted -= o->bytes;
	msd_process_unref(o->process);
	free(o);
}

msd_err msd_object_add(struct msd_req *r, const struct msd_object_made *made,
		       struct msd_handle *ret, struct msd_diag *d)
{
	struct msd_session *s = msd_session_of(r);
	struct msd_object *o = calloc(1, sizeof(*o));
	msd_err err = MSD_NOMEM;

	if (o == NULL || s == NULL) {
		(void)msd_diag_no_memory(d);
		goto fail;
	}
	/* Check again: more objects may have been created since the first check. */
	err = msd_authorization_keep(s, made->bytes, d);
	if (err == MSD_OK)
		err = msd_handles_add(&s->handles, made->kind, o, &o->mine, d);
	if (err != MSD_OK)
		goto fail;
	o->kind = made->kind;
	o->theirs = made->theirs;
	o->process = r->at.replica->process;
	msd_process_ref(o->process);
	o->bytes = made->bytes;
	if (s->authorization.usage != NULL) {
		o->counted = &s->authorization.usage->resident_bytes;
		*o->counted += o->bytes;
	}
	msd_client_queue_hold(&s->client, o->process, held_of(o->kind), o->bytes);
	(void)strncpy(o->module, r->module->group.name, sizeof(o->module) - 1);
	*ret = o->mine;
	return MSD_OK;
fail:
	msd_object_release_one(r->client.who, r->at.replica->process, made->kind,
			       made->theirs);
	free(o);
	return err;
}

/* *@ret is NULL for a value of another kind. */
static msd_err object_of(struct msd_session *s, enum msd_kind kind,
			 const struct msd_wire_value *v, struct msd_object **ret,
			 struct msd_diag *d)
{
	struct msd_handle h = v->as.handle;
	struct msd_wire_tensor t;
	void *object = NULL;

	*ret = NULL;
	if (v->kind != kind)
		return MSD_OK;
	if (kind == MSD_K_TENSOR) {
		msd_err err =
			msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, &t, d);
		if (err != MSD_OK || t.where != MSD_AT_RESIDENT)
			return err;
		h = t.handle;
	}
	msd_err err = msd_handles_get(&s->handles, kind, h, &object, d);
	if (err == MSD_OK)
		*ret = object;
	return err;
}

/* *@ret: the first resident tensor among the parameters, or NULL. */
static msd_err first_tensor(struct msd_session *s, struct msd_cur items, uint32_t n,
			    struct msd_object **ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = NULL;
	while (n-- > 0 && err == MSD_OK && *ret == NULL) {
		struct msd_wire_value v;
		err = msd_value_read(&items, &v, d);
		if (err == MSD_OK)
			err = object_of(s, MSD_K_TENSOR, &v, ret, d);
	}
	return err;
}

msd_err msd_object_module(struct msd_session *s, struct msd_cur items, uint32_t n,
			  struct msd_span *ret, struct msd_diag *d)
{
	struct msd_object *o;
	msd_err err = first_tensor(s, items, n, &o, d);

	*ret = (struct msd_span){0};
	if (err == MSD_OK && o != NULL)
		*ret = msd_span_of(o->module);
	return err;
}

bool msd_object_bytes(struct msd_session *s, const struct msd_wire_value *v,
		      uint64_t *ret)
{
	struct msd_object *o;

	if (object_of(s, MSD_K_TENSOR, v, &o, NULL) != MSD_OK || o == NULL)
		return false;
	*ret = o->bytes;
	return true;
}

msd_err msd_object_use(struct msd_req *r, enum msd_kind kind, struct msd_handle h,
		       struct msd_handle *ret, struct msd_diag *d)
{
	const struct msd_module *m = r->module;
	const struct noun *noun = noun_of(kind);
	void *object = NULL;
	msd_err err = msd_handles_get(&msd_session_of(r)->handles, kind, h, &object, d);

	if (err != MSD_OK)
		return err;
	const struct msd_object *o = object;
	if (strcmp(o->module, m->group.name) != 0) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the %s belongs to module %s, but the call is to module %s%s",
			noun->name, o->module, m->group.name, noun->elsewhere);
	}
	if (o->process->replica == NULL || o->process->replica->group != &m->group) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "the %s was lost with the worker of module %s",
				    noun->name, m->group.name);
	}
	msd_queue_need(r, o->process);
	*ret = o->theirs;
	return MSD_OK;
}

/* Remove the object that parameter @i names from the handles of @s. */
static msd_err take_object(struct msd_session *s, struct msd_cur *items, uint32_t i,
			   enum msd_kind kind, struct msd_object **ret,
			   struct msd_diag *d)
{
	struct msd_wire_value v;
	msd_err err = msd_value_read(items, &v, d);

	if (err == MSD_OK)
		err = object_of(s, kind, &v, ret, d);
	if (err != MSD_OK)
		return err;
	if (*ret == NULL) {
		(void)msd_diag_set(
			d, MSD_BAD_REQUEST, "%s: parameter %u is not a %s",
			msd_method_row(msd_object_release_method(kind))->name, i,
			noun_of(kind)->name);
		return MSD_BAD_REQUEST;
	}
	msd_handles_remove(&s->handles, (*ret)->mine);
	return MSD_OK;
}

msd_err msd_object_free(struct msd_session *s, struct msd_in *in, enum msd_kind kind,
			struct msd_diag *d)
{
	struct msd_object_release f = {.client = &s->client};
	struct msd_cur items;
	struct msd_object *o;
	msd_err err = MSD_OK;
	uint32_t n;

	if (!msd_array_open(in->body.params, &items, &n)) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST, "%s: no parameters",
			msd_method_row(msd_object_release_method(kind))->name);
	}
	for (uint32_t i = 0; i < n && err == MSD_OK; i++) {
		err = take_object(s, &items, i, kind, &o, d);
		if (err == MSD_OK)
			msd_object_drop(o, &f);
	}
	msd_object_release_send(&f);
	return err;
}
