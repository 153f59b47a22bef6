/*
 * tensor.alloc, tensor.copy, tensor.free: resident tensors, on the host or a device.
 *
 * Happy path of a copy: find the source and the destination: a new tensor, an out
 * slot of the reply, or an existing tensor of the same shape and type. The device
 * copies the bytes, and the reply is sent when they have arrived. Failures leave the
 * destination unchanged, unless its device fails in the middle.
 */
#include <string.h>

#include "daemon/worker/calls/call.h"
#include "daemon/worker/handlers.h"
#include "daemon/worker/objects/client_memory.h"
#include "runtime/device/device.h"

static struct msd_wire_tensor wire_of(const struct msd_tensor *t, struct msd_handle h)
{
	struct msd_wire_tensor w = {.where = MSD_AT_RESIDENT,
				    .dtype = t->dl.dtype,
				    .device = t->dl.device,
				    .handle = h,
				    .bytes = msd_dltensor_bytes(&t->dl),
				    .ndim = (uint32_t)t->dl.ndim};

	memcpy(w.shape, t->dl.shape, w.ndim * sizeof(int64_t));
	return w;
}

static void reply_tensor(const struct msd_request *r, const struct msd_wire_tensor *t,
			 struct msd_buf *out)
{
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_tensor(out, t);
}

static void reply_nil(const struct msd_request *r, struct msd_buf *out)
{
	msd_body_begin_response(out, r->id, false);
	msd_pack_nil(out);
	msd_pack_nil(out);
}

/* The device that @v names; nil means the module's. */
static msd_err read_device(const struct msd_worker *w, const struct msd_wire_value *v,
			   struct msd_device *ret, struct msd_diag *d)
{
	if (v->kind != MSD_K_NIL && v->kind != MSD_K_DEVICE) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "expected a device, got %s",
				    msd_kind_name(v->kind));
	}
	*ret = v->kind == MSD_K_DEVICE ? v->as.device : (struct msd_device){0};
	if (ret->type == 0)
		*ret = msd_loaded_device(w->module);
	if (ret->type == MSD_DEV_CPU && ret->id != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "cpu:%d: the host is cpu:0",
				    ret->id);
	}
	return MSD_OK;
}

/* [name, dtype, shape, device?] */
msd_err msd_handle_tensor_alloc(struct msd_worker *w, struct msd_request *r,
				struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct msd_wire_value name, dtype, shape, device = {.kind = MSD_K_NIL};
	struct msd_device where;
	struct msd_handle h;
	struct msd_tensor *t;

	if (!msd_array_open(r->params, &c, &n) || n < 3 || n > 4 ||
	    msd_value_read(&c, &name, d) != MSD_OK ||
	    msd_value_read(&c, &dtype, d) != MSD_OK ||
	    msd_value_read(&c, &shape, d) != MSD_OK ||
	    (n == 4 && msd_value_read(&c, &device, d) != MSD_OK) ||
	    name.kind != MSD_K_STR || dtype.kind != MSD_K_DTYPE ||
	    shape.kind != MSD_K_SHAPE) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"tensor.alloc: expected [name, dtype, shape, device?]");
	}
	msd_err err = read_device(w, &device, &where, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "tensor.alloc");
	if (dtype.as.dtype.code == MSD_DT_HANDLE) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"tensor.alloc: pointers are not valid in another process");
	}
	if (msd_wire_dtype_check(dtype.as.dtype, d) != MSD_OK)
		return msd_diag_wrap(d, MSD_BAD_ARGUMENT, "tensor.alloc");
	err = msd_resident_tensors_alloc(&r->peer->residents, where, dtype.as.dtype,
					 shape.as.shape.dim, shape.as.shape.ndim, &h,
					 &t, d);
	if (err != MSD_OK)
		return err;
	struct msd_wire_tensor wire = wire_of(t, h);
	reply_tensor(r, &wire, out);
	return MSD_OK;
}

/* Source of a copy: bytes at an address of a device; NULL is the host. */
struct source {
	struct msd_wire_tensor wire;
	struct msd_dev *dev;
	uint8_t *p;
};

/* Copy and wait for it: any operation may follow the reply. */
static msd_err copy_bytes(struct msd_dev *to, void *dst, const struct source *from,
			  struct msd_diag *d)
{
	msd_err err = msd_dev_copy(to, dst, from->dev, from->p, from->wire.bytes, d);

	if (err == MSD_OK && from->dev != NULL)
		err = msd_dev_sync(from->dev, d);
	if (err == MSD_OK && to != NULL)
		err = msd_dev_sync(to, d);
	return err;
}

/* Make a resident tensor on @device with the source's contents. */
static msd_err copy_to_new(struct msd_worker *w, struct msd_request *r,
			   const struct source *from, struct msd_device device,
			   struct msd_buf *out, struct msd_diag *d)
{
	struct msd_handle h;
	struct msd_tensor *t;
	struct msd_dev *dev;
	msd_err err = msd_resident_tensors_alloc(&r->peer->residents, device,
						 from->wire.dtype, from->wire.shape,
						 from->wire.ndim, &h, &t, d);

	if (err != MSD_OK)
		return err;
	err = msd_loaded_reach(w->module, device, &dev, d);
	if (err == MSD_OK)
		err = copy_bytes(dev, t->dl.data, from, d);
	if (err != MSD_OK) {
		(void)!msd_resident_tensors_free(&r->peer->residents, h);
		return err;
	}
	struct msd_wire_tensor wire = wire_of(t, h);
	reply_tensor(r, &wire, out);
	return MSD_OK;
}

static msd_err copy_to_out(struct msd_worker *w, struct msd_request *r,
			   struct msd_wire_tensor *to, const struct source *from,
			   struct msd_buf *out, struct msd_diag *d)
{
	struct msd_call call = {
		.peer = r->peer, .module = w->module, .arena = &w->arena};
	uint8_t *dst;
	msd_err err = MSD_OK;

	if (msd_client_memory_has(to)) {
		err = msd_call_add_place(&call, to, d);
		to->device = (struct msd_device){.type = MSD_DEV_CPU};
	}
	if (err == MSD_OK)
		err = msd_call_seat(&call, to, &dst, d);
	if (err == MSD_OK)
		err = copy_bytes(NULL, dst, from, d);
	if (err == MSD_OK)
		reply_tensor(r, to, out);
	msd_call_finish(&call, err != MSD_OK);
	return err;
}

static msd_err copy_to_tensor(struct msd_worker *w, struct msd_request *r,
			      const struct source *from, struct msd_wire_tensor *to,
			      struct msd_buf *out, struct msd_diag *d)
{
	struct msd_obj *owner;
	struct msd_device device;
	struct msd_dev *dev;
	uint8_t *dst;

	if (!msd_dtype_eq(from->wire.dtype, to->dtype) || from->wire.ndim != to->ndim ||
	    memcmp(from->wire.shape, to->shape, to->ndim * sizeof(int64_t)) != 0) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the tensors have different dtypes or shapes");
	}
	if (to->where == MSD_AT_OUT)
		return copy_to_out(w, r, to, from, out, d);
	if (to->where != MSD_AT_RESIDENT) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"the target is neither a resident nor an out tensor");
	}
	msd_err err = msd_call_locate(r->peer, to, &dst, &device, &owner, d);
	if (err == MSD_OK)
		err = msd_loaded_reach(w->module, device, &dev, d);
	if (err == MSD_OK)
		err = copy_bytes(dev, dst, from, d);
	if (err != MSD_OK)
		return err;
	reply_nil(r, out);
	return MSD_OK;
}

static msd_err read_tensor(struct msd_cur *c, struct msd_wire_tensor *ret,
			   struct msd_diag *d)
{
	struct msd_wire_value v;
	msd_err err = msd_value_read(c, &v, d);

	if (err != MSD_OK)
		return err;
	if (v.kind != MSD_K_TENSOR) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "expected a tensor, got %s",
				    msd_kind_name(v.kind));
	}
	return msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, ret, d);
}

/* [from, to]. To a resident tensor of the same dtype and shape: nil. To an out
 * tensor: that tensor, filled. To a device: a new resident tensor. */
static msd_err copy(struct msd_worker *w, struct msd_request *r, struct msd_buf *out,
		    struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	struct source from;
	struct msd_wire_tensor to;
	struct msd_wire_value target;
	struct msd_device device;
	struct msd_obj *owner;

	if (!msd_array_open(r->params, &c, &n) || n != 2)
		return msd_diag_set(d, MSD_BAD_REQUEST, "expected [from, to]");
	msd_err err = read_tensor(&c, &from.wire, d);
	if (err == MSD_OK)
		err = msd_call_locate(r->peer, &from.wire, &from.p, &device, &owner, d);
	if (err == MSD_OK)
		err = msd_loaded_reach(w->module, device, &from.dev, d);
	if (err == MSD_OK)
		err = msd_value_read(&c, &target, d);
	if (err != MSD_OK)
		return err;
	if (target.kind != MSD_K_TENSOR) {
		err = read_device(w, &target, &device, d);
		return err != MSD_OK ? err : copy_to_new(w, r, &from, device, out, d);
	}
	err = msd_wire_tensor_read(target.as.tensor.p, target.as.tensor.n, &to, d);
	return err != MSD_OK ? err : copy_to_tensor(w, r, &from, &to, out, d);
}

msd_err msd_handle_tensor_copy(struct msd_worker *w, struct msd_request *r,
			       struct msd_buf *out, struct msd_diag *d)
{
	msd_err err = copy(w, r, out, d);

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "tensor.copy");
}

/* [tensor...]: frees all existing ones, then fails if some do not exist. */
msd_err msd_handle_tensor_free(struct msd_worker *w, struct msd_request *r,
			       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_cur c;
	uint32_t n;
	uint32_t n_stale = 0;

	(void)w;
	if (!msd_array_open(r->params, &c, &n)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tensor.free: expected [tensor...]");
	}
	for (uint32_t i = 0; i < n; i++) {
		struct msd_wire_tensor t;
		msd_err err = read_tensor(&c, &t, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "tensor.free: argument %u", i);
		if (t.where != MSD_AT_RESIDENT ||
		    !msd_resident_tensors_free(&r->peer->residents, t.handle))
			n_stale++;
	}
	if (n_stale > 0) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "tensor.free: %u of %u tensors are gone already",
				    n_stale, n);
	}
	reply_nil(r, out);
	return MSD_OK;
}
