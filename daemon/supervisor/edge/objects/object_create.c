/*
 * Happy path of tensor.alloc:
 *   - msd_object_create_write: finds the module and sends the request to a worker
 * unchanged
 *   - on_tensor: the worker's tensor gets a handle of the session, which is the reply
 *
 * Failures: if the worker replies with another kind of object, it is not trusted any
 * more and is terminated.
 */
#include "daemon/supervisor/edge/objects/object_create.h"

#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/objects/object.h"
#include "daemon/supervisor/module/life/catalog.h"
#include "daemon/supervisor/module/workers/replica.h"
#include "daemon/supervisor/module/workers/reply.h"
#include "proto/value.h"

/* False: the value is not an object. */
static bool read_object(const struct msd_wire_value *v, struct msd_object_made *ret,
			struct msd_wire_tensor *tensor)
{
	ret->kind = v->kind;
	if (v->kind == MSD_K_INSTANCE) {
		ret->theirs = v->as.handle;
		return true;
	}
	if (v->kind != MSD_K_TENSOR ||
	    msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, tensor, NULL) !=
		    MSD_OK ||
	    tensor->where != MSD_AT_RESIDENT)
		return false;
	ret->theirs = tensor->handle;
	ret->bytes = tensor->bytes;
	return true;
}

static msd_err read_made(struct msd_req *r, struct msd_in *in, enum msd_kind kind,
			 struct msd_object_made *ret, struct msd_wire_tensor *tensor,
			 struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;

	if (!msd_reply_is_ok(in)) {
		msd_reply_error(in, d);
		return d->code;
	}
	if (msd_value_read(&c, &v, d) != MSD_OK || !read_object(&v, ret, tensor) ||
	    ret->kind != kind) {
		msd_replica_disbelieve(
			r->at.replica,
			"it sent a malformed answer: not the requested object", NULL);
		return msd_diag_set(d, MSD_INTERNAL,
				    "the worker's answer was malformed");
	}
	return MSD_OK;
}

static void answer_made(struct msd_req *r, struct msd_in *in, enum msd_kind kind)
{
	struct msd_object_made made = {0};
	struct msd_wire_tensor tensor = {0};
	struct msd_diag d = {0};
	struct msd_buf b = {0};
	struct msd_handle mine = {0};
	msd_err err = read_made(r, in, kind, &made, &tensor, &d);

	if (err == MSD_OK)
		err = msd_object_add(r, &made, &mine, &d);
	if (err != MSD_OK) {
		msd_req_answer_failure(r, &d);
	} else {
		if (kind == MSD_K_TENSOR) {
			tensor.handle = mine;
			msd_pack_tensor(&b, &tensor);
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

/* tensor.copy returns nil, a tensor with its bytes, or (to a device) a new resident
 * tensor. object.describe returns a map, which may hold objects. */
static void on_copied(struct msd_req *r, struct msd_in *in)
{
	struct msd_cur c = msd_cur_of(in->body.result);
	struct msd_wire_value v;
	struct msd_object_made made;
	struct msd_wire_tensor tensor;
	struct msd_diag d = {0};

	if (msd_reply_is_ok(in) && msd_value_read(&c, &v, &d) == MSD_OK &&
	    v.kind == MSD_K_TENSOR && read_object(&v, &made, &tensor)) {
		on_tensor(r, in);
	} else if (!msd_reply_forward(r, r->at.replica->process, in, &d)) {
		msd_replica_disbelieve(r->at.replica, "it sent a malformed answer", &d);
	}
	msd_diag_finish(&d);
}

/* tensor.copy, tensor.fill and object.describe name no module: the first object gives
 * it. */
static msd_err find_module(struct msd_req *r, struct msd_cur items, uint32_t n,
			   struct msd_diag *d)
{
	struct msd_span name;
	msd_err err = msd_object_module(msd_session_of(r), items, n, &name, d);

	if (err == MSD_OK && name.n == 0) {
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s: no %s among the parameters",
				   msd_method_row(r->method)->name,
				   r->method == MSD_M_OBJECT_DESCRIBE
					   ? "object"
					   : "resident tensor");
	}
	if (err != MSD_OK)
		return err;
	return msd_module_require(msd_session_of(r)->edge->registry, name, &r->module,
				  d);
}

/* Parameters of tensor.copy: [from, to]. */
static bool is_to_device(struct msd_cur items, uint32_t n)
{
	struct msd_wire_value v;

	return n == 2 && msd_value_read(&items, &v, NULL) == MSD_OK &&
	       msd_value_read(&items, &v, NULL) == MSD_OK && v.kind == MSD_K_DEVICE;
}

/* Return the size that tensor.alloc needs: [module, dtype, shape, ...]. The worker
 * rejects wrong parameters. */
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

/* Return the size that tensor.copy to a device needs: the size of its source. */
static uint64_t copied_bytes(const struct msd_req *r, struct msd_cur items)
{
	struct msd_wire_tensor t;
	struct msd_wire_value v;
	uint64_t bytes;

	if (msd_value_read(&items, &v, NULL) != MSD_OK || v.kind != MSD_K_TENSOR)
		return 0;
	if (msd_object_bytes(msd_session_of(r), &v, &bytes))
		return bytes;
	return msd_wire_tensor_read(v.as.tensor.p, v.as.tensor.n, &t, NULL) == MSD_OK
		       ? t.bytes
		       : 0;
}

/* Read the module name, the first parameter of tensor.alloc and module.instance. */
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
	return msd_module_require(msd_session_of(r)->edge->registry, name.as.str,
				  &r->module, d);
}

/* A size of 0 needs no check: the worker rejects such a request anyway, or creates no
 * tensor. */
static msd_err may_keep(struct msd_req *r, struct msd_diag *d)
{
	return r->at.makes_bytes > 0
		       ? msd_authorization_keep(msd_session_of(r), r->at.makes_bytes, d)
		       : MSD_OK;
}

msd_err msd_object_create_write(struct msd_req *r, struct msd_in *in,
				struct msd_diag *d)
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
		const msd_err err = may_keep(r, d);
		return err != MSD_OK ? err : read_module(r, items, n, d);
	}
	r->job.on_response = on_copied;
	r->at.is_copy_to_device =
		r->method == MSD_M_TENSOR_COPY && is_to_device(items, n);
	if (r->at.is_copy_to_device)
		r->at.makes_bytes = copied_bytes(r, items);
	const msd_err err = may_keep(r, d);
	return err != MSD_OK ? err : find_module(r, items, n, d);
}
