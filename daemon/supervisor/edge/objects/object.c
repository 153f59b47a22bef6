/*
 * Happy path:
 *   - msd_object_add: an object of a worker gets a handle of the session
 *   - msd_object_use: a call names it and is sent to that worker with the worker's
 * handle
 *   - msd_object_take: the same for all objects of a result
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

#include "daemon/limits.h"
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
} tensor = {"resident tensor", ": copy it there first"}, instance = {"instance", ""},
  other = {"object", ""};

static const struct noun *noun_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR     ? &tensor
	       : kind == MSD_K_INSTANCE ? &instance
					: &other;
}

static enum msd_client_object held_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR     ? MSD_CLIENT_OBJECT_TENSOR
	       : kind == MSD_K_INSTANCE ? MSD_CLIENT_OBJECT_INSTANCE
					: MSD_CLIENT_OBJECT_OTHER;
}

/* Free @o, which no handle names, but not the worker's object. */
static void let_go(struct msd_object *o, struct msd_client *c)
{
	if (c != NULL)
		msd_client_queue_release(c, o->process, held_of(o->kind), o->bytes);
	if (o->counted != NULL)
		*o->counted -= o->bytes;
	msd_process_unref(o->process);
	free(o);
}

void msd_object_drop(struct msd_object *o, struct msd_object_release *f)
{
	msd_object_release_add(f, o->process, o->kind, o->theirs);
	let_go(o, f->client);
}

/* Give the session of @r the object @made under the handle *@ret. */
static msd_err hold(struct msd_req *r, const struct msd_object_made *made,
		    struct msd_handle *ret, struct msd_diag *d)
{
	struct msd_session *s = msd_session_of(r);
	struct msd_object *o = calloc(1, sizeof(*o));

	if (o == NULL || s == NULL) {
		free(o);
		return msd_diag_no_memory(d);
	}
	const msd_err err = msd_handles_add(&s->handles, made->kind, o, &o->mine, d);
	if (err != MSD_OK) {
		free(o);
		return err;
	}
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
}

msd_err msd_object_add(struct msd_req *r, const struct msd_object_made *made,
		       struct msd_handle *ret, struct msd_diag *d)
{
	struct msd_session *s = msd_session_of(r);
	/* Check again: more objects may have been created since the first check. */
	msd_err err = s != NULL ? msd_authorization_keep(s, made->bytes, d) : MSD_OK;

	if (err == MSD_OK)
		err = hold(r, made, ret, d);
	if (err != MSD_OK) {
		msd_object_release_one(r->client.who, r->at.replica->process,
				       made->kind, made->theirs);
	}
	return err;
}

/* A connection holds the objects of a module in one of its workers. */
static msd_err check_room(struct msd_client *c, const struct msd_req *r, uint32_t n,
			  struct msd_diag *d)
{
	struct msd_replica *rep = r->at.replica;
	struct msd_client_queue *queue = msd_client_queue_get(c, rep->group);

	if (queue == NULL)
		return msd_diag_no_memory(d);
	if (rep->group->n_replicas > 1 && queue->home == NULL)
		msd_client_queue_bind(queue, rep);
	if (queue->home != NULL && queue->home != rep) {
		return msd_diag_set(d, MSD_BUSY,
				    "the result holds an object, but the connection "
				    "holds others in another worker of module %s: make "
				    "objects one after the other, in calls that keep "
				    "their order",
				    rep->group->name);
	}
	if (msd_client_queue_room(queue, MSD_CLIENT_OBJECT_OTHER,
				  rep->group->registry->limits->max_objects,
				  MSD_MAX_HELD_OBJECTS) < n) {
		return msd_diag_set(d, MSD_BUSY,
				    "the result holds objects, but the connection, or "
				    "its user or address, has the maximum of objects "
				    "in the module's worker, or its share "
				    "(--max-objects): free some");
	}
	return MSD_OK;
}

msd_err msd_object_take(struct msd_client *c, struct msd_req *r,
			struct msd_reply_object *objects, uint32_t n,
			struct msd_diag *d)
{
	struct msd_session *s = MSD_CONTAINER_OF(c, struct msd_session, client);
	msd_err err = check_room(c, r, n, d);
	uint32_t n_taken = 0;

	while (err == MSD_OK && n_taken < n) {
		const struct msd_object_made made = {.kind = MSD_K_OBJECT,
						     .theirs = objects[n_taken].handle};
		err = hold(r, &made, &objects[n_taken].handle, d);
		n_taken += err == MSD_OK;
	}
	while (err != MSD_OK && n_taken > 0) {
		const struct msd_handle mine = objects[--n_taken].handle;
		struct msd_object *o =
			msd_handles_peek(&s->handles, MSD_K_OBJECT, mine);
		msd_handles_remove(&s->handles, mine);
		let_go(o, c);
	}
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

/* *@ret: the first object among the parameters that is no instance, or NULL. */
static msd_err first_object(struct msd_session *s, struct msd_cur items, uint32_t n,
			    struct msd_object **ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = NULL;
	while (n-- > 0 && err == MSD_OK && *ret == NULL) {
		struct msd_wire_value v;
		err = msd_value_read(&items, &v, d);
		if (err == MSD_OK) {
			err = object_of(
				s, v.kind == MSD_K_OBJECT ? MSD_K_OBJECT : MSD_K_TENSOR,
				&v, ret, d);
		}
	}
	return err;
}

msd_err msd_object_module(struct msd_session *s, struct msd_cur items, uint32_t n,
			  struct msd_span *ret, struct msd_diag *d)
{
	struct msd_object *o;
	msd_err err = first_object(s, items, n, &o, d);

	*ret = (struct msd_span){0};
	if (err == MSD_OK && o != NULL)
		*ret = msd_span_of(o->module);
	return err;
}

msd_err msd_object_home(struct msd_session *s, struct msd_handle h,
			struct msd_span *ret, struct msd_diag *d)
{
	void *object = NULL;
	const msd_err err = msd_handles_get(&s->handles, MSD_K_OBJECT, h, &object, d);

	if (err == MSD_OK)
		*ret = msd_span_of(((const struct msd_object *)object)->module);
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
			d, MSD_BAD_REQUEST, "%s: parameter %u is no %s",
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
