/*
 * Happy path: a result that is an object gets a handle and a reference. A later call
 * names it as an argument or as its function; object.free drops the reference.
 *
 * Failures: the reply cannot be written, and the handles that it has are taken back. A
 * handle is stale.
 */
#include "daemon/worker/objects/held_objects.h"

#include <string.h>

#include "daemon/confine/crash.h"
#include "daemon/worker/handlers.h"
#include "runtime/value/types.h"

/* An object in the reply of a call. */
struct call_object {
	struct call_object *next;
	struct msd_handle handle;
};

struct msd_obj *msd_held_objects_peek(const struct msd_handles *objects,
				      struct msd_handle h)
{
	return msd_handles_peek(objects, MSD_K_OBJECT, h);
}

static struct msd_span key_of(int32_t type)
{
	const struct msd_bytes key = msd_type_info(type)->key;

	return (struct msd_span){(const uint8_t *)key.data, key.size};
}

/* A deleter is code of the library: a crash report names it. */
static void drop(struct msd_obj *obj)
{
	msd_crash_note("free of", "an object");
	msd_obj_unref(obj);
	msd_crash_note(NULL, NULL);
}

static bool remove_object(struct msd_handles *objects, struct msd_handle h)
{
	struct msd_obj *obj = msd_held_objects_peek(objects, h);

	if (obj == NULL)
		return false;
	msd_handles_remove(objects, h);
	drop(obj);
	return true;
}

msd_err msd_held_objects_give(struct msd_call *call, struct msd_obj *obj,
			      struct msd_buf *out, struct msd_diag *d)
{
	struct call_object *o = msd_arena_alloc(call->arena, sizeof(*o));

	if (o == NULL)
		return msd_diag_no_memory(d);
	const msd_err err =
		msd_handles_add(&call->peer->objects, MSD_K_OBJECT, obj, &o->handle, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "an object of the result");
	msd_obj_ref(obj);
	o->next = call->objects;
	call->objects = o;
	msd_pack_object(out, o->handle, obj->type == MSD_T_FUNCTION, key_of(obj->type));
	return MSD_OK;
}

void msd_held_objects_take_back(struct msd_call *call)
{
	for (struct call_object *o = call->objects; o != NULL; o = o->next)
		(void)remove_object(&call->peer->objects, o->handle);
	call->objects = NULL;
}

static msd_err stale(struct msd_handle h, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_STALE_HANDLE, "object handle %u.%u: it is gone",
			    h.slot, h.generation);
}

msd_err msd_held_objects_use(const struct msd_call *call, struct msd_handle h,
			     struct msd_obj **ret, struct msd_diag *d)
{
	struct msd_obj *obj = msd_held_objects_peek(&call->peer->objects, h);

	if (obj == NULL)
		return stale(h, d);
	if (!call->wants_objects) { /* compiled code takes any object for a tensor */
		const struct msd_span key = key_of(obj->type);
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "an object of type %.*s, but the function takes "
				    "tensors, numbers and strings",
				    (int)(key.n < 256 ? key.n : 256),
				    (const char *)key.p);
	}
	*ret = obj;
	return MSD_OK;
}

/* A function of a library, with our fields. */
struct held_function {
	struct msd_function fn;
	struct msd_function *target;
};

static int call_target(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_function *target = ((struct held_function *)self)->target;

	return target->call(target, args, n, ret);
}

msd_err msd_held_objects_function(struct msd_peer *peer, struct msd_handle h,
				  struct msd_function **ret, struct msd_diag *d)
{
	struct msd_obj *obj = msd_held_objects_peek(&peer->objects, h);

	if (obj == NULL)
		return stale(h, d);
	if (obj->type != MSD_T_FUNCTION) {
		const struct msd_span key = key_of(obj->type);
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "call: an object of type %.*s is not a function",
				    (int)(key.n < 256 ? key.n : 256),
				    (const char *)key.p);
	}
	struct msd_function *fn = (struct msd_function *)(void *)obj;
	if (obj->pad == MSD_FUNCTION_MARK) {
		*ret = fn;
		return MSD_OK;
	}
	struct held_function *held =
		msd_arena_alloc(&peer->worker->arena, sizeof(*held));
	if (held == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&held->fn, "a function object", call_target);
	held->target = fn;
	*ret = &held->fn;
	return MSD_OK;
}

void msd_held_objects_finish(struct msd_handles *objects)
{
	const struct msd_handle_entry *e;
	uint32_t at = 0;

	while ((e = msd_handles_next(objects, &at)) != NULL)
		drop(e->object);
	msd_handles_finish(objects);
}

/* [object...]: frees all existing ones, even if stale handles are listed. */
msd_err msd_handle_object_free(struct msd_worker *w, struct msd_request *r,
			       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c;
	struct msd_wire_value v;
	uint32_t n;
	uint32_t n_stale = 0;

	(void)w;
	if (!msd_array_open(r->params, &c, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "object.free: expected [object...]");
	}
	for (uint32_t i = 0; i < n; i++) {
		msd_err err = msd_value_read(&c, &v, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "object.free: argument %u", i);
		if (v.kind != MSD_K_OBJECT ||
		    !remove_object(&r->peer->objects, v.as.object.handle))
			n_stale++;
	}
	if (n_stale > 0) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "object.free: %u of %u objects are gone already",
				    n_stale, n);
	}
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_nil(out);
	return MSD_OK;
}
