/*
 * Happy path of tensor.alloc:
 *  - msd_object_write: the module is found, the request goes to a worker as it came
 *  - on_made: the worker's tensor gets a handle of the session's, which is answered
 *  - msd_object_use: a call names it; the call goes to that worker, with its handle
 *  - msd_object_free: the handle is forgotten, the worker told
 *
 * Failures:
 *  - the session has ended, or has as many handles as it may: the worker frees at once
 *    what it made
 *  - the worker dies: the handle stays and is stale, until it is freed
 */
#include "daemon/supervisor/edge/object.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/module/catalog.h"
#include "daemon/supervisor/module/lane.h"
#include "daemon/supervisor/module/queue.h"
#include "daemon/supervisor/module/reply.h"
#include "proto/value.h"

struct msd_object {
	enum msd_kind kind;
	struct msd_handle mine;      /* the session's */
	struct msd_handle theirs;    /* the worker's */
	struct msd_process *process; /* one reference */
	uint64_t bytes;              /* of a tensor */
	char module[MSD_MAX_NAME_BYTES + 1];
};

/* What differs between the kinds of objects. */
static const struct noun {
	const char *name;
	const char *elsewhere; /* what to do about one that lives with another module */
} tensor = {"resident tensor", ": copy it there first"}, instance = {"instance", ""};

static const struct noun *noun_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR ? &tensor : &instance;
}

static enum msd_held held_of(enum msd_kind kind)
{
	return kind == MSD_K_TENSOR ? MSD_HELD_TENSOR : MSD_HELD_INSTANCE;
}

void msd_object_drop(struct msd_object *o, struct msd_freeing *f)
{
	msd_freeing_add(f, o->process, o->kind, o->theirs);
	if (f->client != NULL)
		msd_lane_release(f->client, o->process, held_of(o->kind), o->bytes);
	msd_process_unref(o->process);
	free(o);
}

/* What a worker's answer says it has made. */
struct made {
	enum msd_kind kind;
	struct msd_handle theirs;
	struct msd_wire_tensor tensor; /* of a tensor */
};

/* False: the value is no object. */
static bool read_object(const struct msd_wire_value *v, struct made *ret)
{
	ret->kind = v->kind;
	if (v->kind == MSD_K_INSTANCE) {
		ret->theirs = v->as.handle;
		return true;
	}
	if (v->kind != MSD_K_TENSOR ||
	    msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, &ret->tensor, NULL) !=
		    MSD_OK ||
	    ret->tensor.where != MSD_AT_RESIDENT)
		return false;
	ret->theirs = ret->tensor.handle;
	return true;
}

static msd_err read_made(struct msd_req *r, struct msd_in *in, enum msd_kind kind,
			 struct made *ret, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, d);
		return d->code;
	}
	if (msd_value_read(&c, &v, d) != MSD_OK || !read_object(&v, ret) ||
	    ret->kind != kind) {
		msd_replica_disbelieve(
			r->at.replica,
			"it sent a malformed answer: not what was to be made", NULL);
		return msd_diag_set(d, MSD_INTERNAL,
				    "the worker's answer was malformed");
	}
	return MSD_OK;
}

/* The session owns the object from here on; without a session nobody does. */
static msd_err adopt(struct msd_req *r, const struct made *made, struct msd_handle *ret,
		     struct msd_diag *d)
{
	struct msd_session *s = msd_session_of(r);
	struct msd_object *o = calloc(1, sizeof(*o));
	msd_err err = MSD_NOMEM;

	if (o == NULL || s == NULL) {
		(void)msd_diag_no_memory(d);
		goto fail;
	}
	err = msd_handles_add(&s->handles, made->kind, o, &o->mine, d);
	if (err != MSD_OK)
		goto fail;
	o->kind = made->kind;
	o->theirs = made->theirs;
	o->process = r->at.replica->process;
	msd_process_ref(o->process);
	o->bytes = made->tensor.bytes;
	msd_lane_hold(&s->client, o->process, held_of(o->kind), o->bytes);
	(void)strncpy(o->module, r->module->crew.name, sizeof(o->module) - 1);
	*ret = o->mine;
	return MSD_OK;
fail:
	msd_freeing_one(r->client.who, r->at.replica->process, made->kind,
			made->theirs);
	free(o);
	return err;
}

static void answer_made(struct msd_req *r, struct msd_in *in, enum msd_kind kind)
{
	struct made made = {0};
	struct msd_diag d = {0};
	struct msd_buf b = {0};
	struct msd_handle mine = {0};
	msd_err err = read_made(r, in, kind, &made, &d);

	if (err == MSD_OK)
		err = adopt(r, &made, &mine, &d);
	if (err != MSD_OK) {
		msd_req_answer_error(r, err, msd_diag_text(&d));
	} else {
		if (kind == MSD_K_TENSOR) {
			made.tensor.handle = mine;
			msd_pack_tensor(&b, &made.tensor);
		} else {
			msd_pack_handle(&b, MSD_EXT_INSTANCE, mine);
		}
		msd_req_answer(r, &b);
	}
	msd_buf_finish(&b);
	msd_diag_finish(&d);
}

static void on_instance(struct msd_req *r, struct msd_in *in)
{
	answer_made(r, in, MSD_K_INSTANCE);
}

static void on_tensor(struct msd_req *r, struct msd_in *in)
{
	answer_made(r, in, MSD_K_TENSOR);
}

/* tensor.copy answers nil, a tensor with its bytes, or (to a device) a new resident
 * one. */
static void on_copied(struct msd_req *r, struct msd_in *in)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;
	struct made made;
	struct msd_diag d = {0};

	if (msd_reply_is_ok(in) && msd_value_read(&c, &v, &d) == MSD_OK &&
	    v.kind == MSD_K_TENSOR && read_object(&v, &made)) {
		on_tensor(r, in);
	} else if (!msd_reply_forward(r, r->at.replica->process, in, &d)) {
		msd_replica_disbelieve(r->at.replica, "it sent a malformed answer", &d);
	}
	msd_diag_finish(&d);
}

/* The session's object of @kind behind a value; NULL for a value that is none. */
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

/* The first resident tensor among the parameters; NULL: there is none. */
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

struct msd_span msd_object_module(struct msd_session *s, struct msd_cur items,
				  uint32_t n)
{
	struct msd_object *o;

	if (first_tensor(s, items, n, &o, NULL) != MSD_OK || o == NULL)
		return (struct msd_span){0};
	return (struct msd_span){(const uint8_t *)o->module, strlen(o->module)};
}

/* tensor.copy and tensor.fill name no module: the first resident tensor does. */
static msd_err find_module(struct msd_req *r, struct msd_cur items, uint32_t n,
			   struct msd_diag *d)
{
	struct msd_object *o;
	msd_err err = first_tensor(msd_session_of(r), items, n, &o, d);

	if (err == MSD_OK && o == NULL) {
		err = msd_diag_set(d, MSD_BAD_REQUEST,
				   "%s: no resident tensor among the parameters",
				   msd_method_row(r->method)->name);
	}
	if (err != MSD_OK)
		return err;
	return msd_module_require(
		msd_session_of(r)->edge->house,
		(struct msd_span){(const uint8_t *)o->module, strlen(o->module)},
		&r->module, d);
}

/* A tensor.copy's parameters: [from, to]. */
static bool is_to_device(struct msd_cur items, uint32_t n)
{
	struct msd_wire_value v;

	return n == 2 && msd_value_read(&items, &v, NULL) == MSD_OK &&
	       msd_value_read(&items, &v, NULL) == MSD_OK && v.kind == MSD_K_DEVICE;
}

/* What a tensor.alloc makes: [module, dtype, shape, ...]. What it says wrongly, the
 * worker refuses. */
static uint64_t alloc_bytes(struct msd_cur items, uint32_t n)
{
	struct msd_wire_value name, dtype, shape;
	uint64_t n_elements, bytes;

	if (n < 3 || msd_value_read(&items, &name, NULL) != MSD_OK ||
	    msd_value_read(&items, &dtype, NULL) != MSD_OK ||
	    msd_value_read(&items, &shape, NULL) != MSD_OK ||
	    dtype.kind != MSD_K_DTYPE || shape.kind != MSD_K_SHAPE)
		return 0;
	return msd_shape_elements(shape.as.shape.dim, shape.as.shape.ndim,
				  &n_elements) &&
			       msd_dtype_bytes(dtype.as.dtype, n_elements, &bytes)
		       ? bytes
		       : UINT64_MAX;
}

/* What a tensor.copy to a device makes: as much as it copies. */
static uint64_t copied_bytes(const struct msd_req *r, struct msd_cur items)
{
	struct msd_object *from = NULL;
	struct msd_wire_tensor t;
	struct msd_wire_value v;

	if (msd_value_read(&items, &v, NULL) != MSD_OK ||
	    object_of(msd_session_of(r), MSD_K_TENSOR, &v, &from, NULL) != MSD_OK ||
	    v.kind != MSD_K_TENSOR)
		return 0;
	if (from != NULL)
		return from->bytes;
	return msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, NULL) == MSD_OK
		       ? t.bytes
		       : 0;
}

/* tensor.alloc and module.instance begin with it. */
static msd_err read_module(struct msd_req *r, struct msd_cur items, uint32_t n,
			   struct msd_diag *d)
{
	struct msd_wire_value name;

	if (n == 0 || msd_value_read(&items, &name, d) != MSD_OK ||
	    name.kind != MSD_K_STR || (r->method == MSD_M_MODULE_INSTANCE && n != 1)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected %s",
				    msd_method_row(r->method)->name,
				    msd_method_row(r->method)->params);
	}
	return msd_module_require(msd_session_of(r)->edge->house, name.as.str,
				  &r->module, d);
}

msd_err msd_object_write(struct msd_req *r, struct msd_in *in, struct msd_diag *d)
{
	struct msd_cur items;
	uint32_t n;

	if (!msd_array_open(in->body.params, &items, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: expected %s",
				    msd_method_row(r->method)->name,
				    msd_method_row(r->method)->params);
	}
	msd_buf_put(&r->job.params, in->body.params.p, in->body.params.n);
	if (r->method == MSD_M_MODULE_INSTANCE || r->method == MSD_M_TENSOR_ALLOC) {
		const bool is_alloc = r->method == MSD_M_TENSOR_ALLOC;
		r->job.on_response = is_alloc ? on_tensor : on_instance;
		r->at.makes_bytes = is_alloc ? alloc_bytes(items, n) : 0;
		return read_module(r, items, n, d);
	}
	r->job.on_response = on_copied;
	r->at.is_copy_to_device =
		r->method == MSD_M_TENSOR_COPY && is_to_device(items, n);
	if (r->at.is_copy_to_device)
		r->at.makes_bytes = copied_bytes(r, items);
	return find_module(r, items, n, d);
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
	if (strcmp(o->module, m->crew.name) != 0) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the %s lives with module %s, the call is to module %s%s",
			noun->name, o->module, m->crew.name, noun->elsewhere);
	}
	if (o->process->replica == NULL || o->process->replica->crew != &m->crew) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "the %s was lost with the worker of module %s",
				    noun->name, m->crew.name);
	}
	msd_queue_need(r, o->process);
	*ret = o->theirs;
	return MSD_OK;
}

/* The @i-th parameter, out of the handles of @s. */
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
		(void)msd_diag_set(d, MSD_BAD_REQUEST, "%s: parameter %u is not a %s",
				   msd_method_row(msd_freeing_method(kind))->name, i,
				   noun_of(kind)->name);
		return MSD_BAD_REQUEST;
	}
	msd_handles_remove(&s->handles, (*ret)->mine);
	return MSD_OK;
}

msd_err msd_object_free(struct msd_session *s, struct msd_in *in, enum msd_kind kind,
			struct msd_diag *d)
{
	struct msd_freeing f = {.client = &s->client};
	struct msd_cur items;
	struct msd_object *o;
	msd_err err = MSD_OK;
	uint32_t n;

	if (!msd_array_open(in->body.params, &items, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: no parameters",
				    msd_method_row(msd_freeing_method(kind))->name);
	}
	for (uint32_t i = 0; i < n && err == MSD_OK; i++) {
		err = take_object(s, &items, i, kind, &o, d);
		if (err == MSD_OK)
			msd_object_drop(o, &f);
	}
	msd_freeing_send(&f);
	return err;
}
