/*
 * Converts the arguments of a call from msgpack to values for compiled code.
 *
 * Happy path: each argument is read once. A tensor in a segment becomes a view of it,
 * an out tensor gets a slot, a resident tensor is looked up by its handle. Named
 * arguments are put in the order of the signature.
 */
#include <string.h>

#include "daemon/worker/calls/plan.h"
#include "daemon/worker/calls/stage.h"
#include "daemon/worker/objects/client_memory.h"
#include "daemon/worker/objects/held_objects.h"
#include "runtime/value/map.h"

/* An object that lives as long as the call. */
struct call_hold {
	struct call_hold *next;
	struct msd_obj *obj; /* owned */
};

msd_err msd_call_hold(struct msd_call *call, struct msd_obj *obj, struct msd_any *ret,
		      struct msd_diag *d)
{
	struct call_hold *h =
		obj != NULL ? msd_arena_alloc(call->arena, sizeof(*h)) : NULL;

	if (h == NULL) {
		msd_obj_unref(obj);
		return msd_diag_no_memory(d);
	}
	*h = (struct call_hold){.next = call->holds, .obj = obj};
	call->holds = h;
	*ret = msd_of_obj(obj);
	return MSD_OK;
}

/* The library kept an argument, and the memory of tensors returns to its owner. Without
 * memory for a copy the tensor becomes empty. */
static void keep_shared(struct msd_obj *obj)
{
	struct msd_tensor *t = (struct msd_tensor *)(void *)obj;

	if (!msd_obj_is_shared(obj) || msd_tensor_keep(obj, false))
		return;
	t->dl.data = NULL;
	for (int32_t i = 0; i < t->dl.ndim; i++)
		t->dl.shape[i] = 0;
}

void msd_call_finish(struct msd_call *call, bool failed)
{
	/* Queued operations use the call's memory. If the call failed, its error is
	 * already set. */
	(void)!msd_stage_wait(call, NULL);
	for (struct call_hold *h = call->holds; h != NULL; h = h->next) {
		if (call->is_typed)
			keep_shared(h->obj);
		msd_obj_unref(h->obj);
	}
	call->holds = NULL;
	for (struct msd_call_out *o = call->outs; o != NULL; o = o->next) {
		if (o->there != NULL)
			msd_obj_unref(&o->there->obj);
	}
	call->outs = NULL;
	if (failed) {
		msd_call_free_slots(call);
		msd_held_objects_take_back(call);
	}
	msd_arena_reset(call->arena);
}

/* Reserve a tensor that the callee fills: zeros in its own slot, or a place in a
 * client segment with its current bytes. It is noted for the reply. */
static msd_err reserve_out(struct msd_call *call, struct msd_wire_tensor *t,
			   struct msd_call_out **ret, struct msd_diag *d)
{
	struct msd_call_out *o = msd_arena_alloc(call->arena, sizeof(*o));
	msd_err err = o != NULL ? msd_tensor_check_kind(t, d) : msd_diag_no_memory(d);

	if (err == MSD_OK && msd_client_memory_has(t)) {
		err = msd_client_memory_locate(call->peer, t, &o->slot, d);
		t->where = MSD_AT_SEGMENT;
		call->n_result_tensors++;
	} else if (err == MSD_OK) {
		err = msd_call_add_slot(call, t, MSD_OUT_ZEROS, &o->slot, d);
	}
	if (err != MSD_OK)
		return err;
	o->tensor = *t;
	*ret = o;
	struct msd_call_out **end = &call->outs;
	while (*end != NULL)
		end = &(*end)->next;
	*end = o;
	call->n_outs++;
	return MSD_OK;
}

/* Compiled functions do not keep a DLTensor, so they need no object. */
static msd_err borrowed_tensor(struct msd_call *call, const struct msd_wire_tensor *t,
			       uint8_t *p, struct msd_device device,
			       struct msd_any *ret, struct msd_diag *d)
{
	struct msd_dltensor *dl =
		msd_arena_alloc(call->arena, sizeof(*dl) + t->ndim * sizeof(int64_t));

	if (dl == NULL)
		return msd_diag_no_memory(d);
	*dl = (struct msd_dltensor){.data = p,
				    .device = device,
				    .ndim = (int32_t)t->ndim,
				    .dtype = t->dtype,
				    .shape = (int64_t *)(void *)(dl + 1)};
	memcpy(dl->shape, t->shape, t->ndim * sizeof(int64_t));
	*ret = (struct msd_any){.type = MSD_T_DLTENSOR, .as.dl = dl};
	return MSD_OK;
}

/* A tensor that the callee may keep. */
static msd_err typed_tensor(struct msd_call *call, const struct msd_wire_tensor *t,
			    uint8_t *p, struct msd_device device, struct msd_obj *owner,
			    struct msd_any *ret, struct msd_diag *d)
{
	const struct msd_dltensor dl = {.data = p,
					.device = device,
					.ndim = (int32_t)t->ndim,
					.dtype = t->dtype,
					.shape = (int64_t *)(uintptr_t)t->shape};
	struct msd_tensor *made = msd_tensor_strided(&dl, owner, NULL, NULL);

	if (made != NULL && owner == NULL)
		made->lent = t->where == MSD_AT_OUT ? MSD_LENT_OUT : MSD_LENT_IN;
	return msd_call_hold(call, made != NULL ? &made->obj : NULL, ret, d);
}

/* Make a tensor over memory that stays valid for the call. */
static msd_err view(struct msd_call *call, const struct msd_wire_tensor *t, uint8_t *p,
		    struct msd_device device, struct msd_obj *owner, bool is_nested,
		    struct msd_any *ret, struct msd_diag *d)
{
	if (!call->wants_objects && !is_nested)
		return borrowed_tensor(call, t, p, device, ret, d);
	if (call->is_typed)
		return typed_tensor(call, t, p, device, owner, ret, d);
	struct msd_tensor *made = msd_tensor_view(p, device, t->dtype, t->shape,
						  t->ndim, owner, NULL, NULL);
	return msd_call_hold(call, made != NULL ? &made->obj : NULL, ret, d);
}

/* Make an out tensor: the slot itself, or memory of a device that is copied there
 * later. */
static msd_err read_out(struct msd_call *call, struct msd_wire_tensor *t,
			struct msd_dev *dev, struct msd_any *ret, struct msd_diag *d)
{
	struct msd_call_out *o;
	msd_err err = reserve_out(call, t, &o, d);

	if (err == MSD_OK && dev != NULL)
		err = msd_stage_in(call, t, dev, NULL, &o->there, d);
	if (err != MSD_OK)
		return err;
	if (o->there != NULL) {
		*ret = (struct msd_any){.type = MSD_T_TENSOR, .as.obj = &o->there->obj};
		return MSD_OK;
	}
	return view(call, t, o->slot, (struct msd_device){MSD_DEV_CPU, 0}, NULL, false,
		    ret, d);
}

static msd_err refuse_out(const struct msd_call *call, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "an out tensor, but %s returns its outputs itself; omit it",
			    call->func->name);
}

/* Read a tensor @t that has bytes. @dev is their destination, NULL if host memory is
 * sufficient. */
static msd_err read_in(struct msd_call *call, const struct msd_wire_tensor *t,
		       struct msd_dev *dev, bool is_nested, struct msd_any *ret,
		       struct msd_diag *d)
{
	const bool is_lent = msd_client_memory_has(t);
	struct msd_obj *owner = NULL;
	struct msd_tensor *there;
	struct msd_device device;
	uint8_t *p;
	msd_err err = msd_call_locate(call->peer, t, &p, &device, &owner, d);

	if (err != MSD_OK)
		return err;
	const bool stays = owner != NULL ||
			   (is_lent && dev == NULL && !msd_client_memory_is_copied(t));
	call->has_resident = call->has_resident || owner != NULL;
	call->sends_bytes = call->sends_bytes || (!stays && t->bytes > 0);
	if (dev != NULL) {
		err = msd_stage_in(call, t, dev, p, &there, d);
		return err == MSD_OK ? msd_call_hold(call, &there->obj, ret, d) : err;
	}
	return is_lent && msd_client_memory_is_copied(t)
		       ? msd_client_memory_copy(call, t, p, ret, d)
		       : view(call, t, p, device, owner, is_nested, ret, d);
}

static msd_err read_tensor(struct msd_call *call, struct msd_span ext, bool is_nested,
			   struct msd_any *ret, struct msd_diag *d)
{
	struct msd_wire_tensor t;
	struct msd_dev *dev = NULL;
	msd_err err = msd_wire_tensor_read(ext.p, ext.n, &t, d);

	/* Bytes go to the tensor's device, otherwise to the call's device. A resident
	 * tensor never moves. */
	if (err == MSD_OK && t.where != MSD_AT_RESIDENT) {
		err = msd_loaded_reach(call->module,
				       t.device.type != 0 ? t.device : call->device,
				       &dev, d);
	}
	if (err != MSD_OK)
		return err;
	if (t.where != MSD_AT_OUT || is_nested)
		return read_in(call, &t, dev, is_nested, ret, d);
	return call->takes_out             ? read_out(call, &t, dev, ret, d)
	       : msd_client_memory_has(&t) ? msd_call_add_place(call, &t, d)
					   : refuse_out(call, d);
}

static msd_err read_value(struct msd_call *call, struct msd_cur *c, bool is_nested,
			  struct msd_any *ret, struct msd_diag *d);

/* Depth is bounded: the body's scan allows MSD_MAX_DEPTH. */
static msd_err read_tuple(struct msd_call *call, const struct msd_wire_value *v,
			  struct msd_any *ret, struct msd_diag *d)
{
	struct msd_array *a = msd_array_new(v->as.tuple.n);
	struct msd_cur c = msd_cur_of(v->as.tuple.items);
	msd_err err = msd_call_hold(call, a != NULL ? &a->obj : NULL, ret, d);

	if (a == NULL || err != MSD_OK)
		return err;
	for (uint32_t i = 0; i < v->as.tuple.n; i++) {
		struct msd_any item;
		err = read_value(call, &c, true, &item, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "[%u]", i);
		if (!msd_any_copy(&item, &a->items[i]))
			return msd_diag_no_memory(d);
	}
	return MSD_OK;
}

/* Read a key and its value, which stay the call's. */
static msd_err read_pair(struct msd_call *call, struct msd_cur *c, uint32_t i,
			 struct msd_pair *ret, struct msd_diag *d)
{
	msd_err err = read_value(call, c, true, &ret->key, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "key %u", i);
	err = read_value(call, c, true, &ret->value, d);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "value %u", i);
}

static msd_err read_map(struct msd_call *call, const struct msd_wire_value *v,
			struct msd_any *ret, struct msd_diag *d)
{
	const uint32_t n = v->as.tuple.n;
	struct msd_pair *pairs =
		msd_arena_alloc(call->arena, (n > 0 ? n : 1) * sizeof(*pairs));
	struct msd_cur c = msd_cur_of(v->as.tuple.items);
	msd_err err = pairs != NULL ? MSD_OK : msd_diag_no_memory(d);
	size_t repeated = SIZE_MAX;

	if (err == MSD_OK && !call->wants_objects) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "a map, but the function takes tensors, numbers "
				   "and strings");
	}
	for (uint32_t i = 0; err == MSD_OK && i < n; i++)
		err = read_pair(call, &c, i, &pairs[i], d);
	if (err != MSD_OK)
		return err;
	struct msd_map *map = msd_map_new(MSD_T_MAP, pairs, n, &repeated);
	if (map == NULL && repeated != SIZE_MAX) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "key %zu of a map occurs twice", repeated);
	}
	return msd_call_hold(call, map != NULL ? &map->obj : NULL, ret, d);
}

static msd_err read_object(struct msd_call *call, struct msd_handle h,
			   struct msd_any *ret, struct msd_diag *d)
{
	struct msd_obj *obj;
	const msd_err err = msd_held_objects_use(call, h, &obj, d);

	if (err != MSD_OK)
		return err;
	msd_obj_ref(obj);
	return msd_call_hold(call, obj, ret, d);
}

/* Typed code compares small texts by their form. */
static msd_err take_text(struct msd_call *call, struct msd_span s, enum msd_type type,
			 struct msd_any *ret, struct msd_diag *d)
{
	struct msd_str *str;

	if (call->is_typed) {
		if (!msd_any_text(s, type == MSD_T_STR, ret))
			return msd_diag_no_memory(d);
		return ret->type < MSD_T_OBJECT
			       ? MSD_OK
			       : msd_call_hold(call, ret->as.obj, ret, d);
	}
	str = msd_str_new((const char *)s.p, s.n, type);
	return msd_call_hold(call, str != NULL ? &str->obj : NULL, ret, d);
}

static msd_err take_value(struct msd_call *call, const struct msd_wire_value *v,
			  bool is_nested, struct msd_any *ret, struct msd_diag *d)
{
	struct msd_shape *shape;

	*ret = msd_none();
	switch (v->kind) {
	case MSD_K_NIL:
		return MSD_OK;
	case MSD_K_BOOL:
		*ret = msd_bool(v->as.b);
		return MSD_OK;
	case MSD_K_INT:
		*ret = msd_int(v->as.i);
		return MSD_OK;
	case MSD_K_FLOAT:
		*ret = msd_float(v->as.f);
		return MSD_OK;
	case MSD_K_STR:
		return take_text(call, v->as.str, MSD_T_STR, ret, d);
	case MSD_K_BYTES:
		return take_text(call, v->as.str, MSD_T_BYTES, ret, d);
	case MSD_K_DTYPE:
		*ret = (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = v->as.dtype};
		return MSD_OK;
	case MSD_K_DEVICE:
		*ret = (struct msd_any){.type = MSD_T_DEVICE,
					.as.device = v->as.device};
		return MSD_OK;
	case MSD_K_SHAPE:
		shape = msd_shape_new(v->as.shape.dim, v->as.shape.ndim);
		return msd_call_hold(call, shape != NULL ? &shape->obj : NULL, ret, d);
	case MSD_K_TENSOR:
		return read_tensor(call, v->as.tensor, is_nested, ret, d);
	case MSD_K_TUPLE:
		return read_tuple(call, v, ret, d);
	case MSD_K_MAP:
		return read_map(call, v, ret, d);
	case MSD_K_OBJECT:
		return read_object(call, v->as.object.handle, ret, d);
	case MSD_K_FUNCTION:
	case MSD_K_MODULE:
	case MSD_K_INSTANCE:
	case MSD_K_UPLOAD:
	case MSD_K_COUNT:
		break;
	}
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "no handle of kind %s can be an argument",
			    msd_kind_name(v->kind));
}

static msd_err read_value(struct msd_call *call, struct msd_cur *c, bool is_nested,
			  struct msd_any *ret, struct msd_diag *d)
{
	struct msd_wire_value v;
	msd_err err = msd_value_read(c, &v, d);

	return err == MSD_OK ? take_value(call, &v, is_nested, ret, d) : err;
}

msd_err msd_call_make_args(struct msd_call *call, uint32_t n, struct msd_diag *d)
{
	call->n_args = n;
	if (n == 0)
		return MSD_OK;
	call->args = msd_arena_alloc(call->arena, n * sizeof(*call->args));
	return call->args != NULL ? MSD_OK : msd_diag_no_memory(d);
}

/* Check argument @i, read with @err. Places for results are not passed to the
 * function, and must be last. */
static msd_err took_arg(struct msd_call *call, uint32_t i, uint32_t n_places,
			msd_err err, struct msd_diag *d)
{
	if (err == MSD_OK && n_places > 0 && call->n_places == n_places) {
		err = msd_diag_set(d, MSD_BAD_ARGUMENT,
				   "it follows an out tensor: out tensors come last");
	}
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "argument %u", i);
}

msd_err msd_call_read_args(struct msd_call *call, struct msd_cur *c, uint32_t n,
			   struct msd_diag *d)
{
	msd_err err = msd_call_make_args(call, n, d);

	for (uint32_t i = 0; err == MSD_OK && i < n; i++) {
		const uint32_t n_places = call->n_places;
		err = read_value(call, c, false, &call->args[i], d);
		err = took_arg(call, i, n_places, err, d);
	}
	call->n_args -= call->n_places;
	return err;
}

msd_err msd_call_apply_args(struct msd_call *call, struct msd_diag *d)
{
	const struct msd_plan *plan = call->request->known->plan;
	msd_err err = msd_call_make_args(call, plan->n_args, d);

	for (uint32_t i = 0; err == MSD_OK && i < plan->n_args; i++) {
		const uint32_t n_places = call->n_places;
		const struct msd_wire_value v = msd_plan_arg(call->request, i);
		err = take_value(call, &v, false, &call->args[i], d);
		err = took_arg(call, i, n_places, err, d);
	}
	call->n_args -= call->n_places;
	return err;
}
