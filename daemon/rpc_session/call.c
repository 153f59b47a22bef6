/* Calls: values of the packet become values of the runtime. */
#include <stdlib.h>

#include "daemon/rpc_session/executor.h"
#include "daemon/rpc_session/state.h"
#include "runtime/device/device.h"
#include "runtime/load/loaded.h"
#include "runtime/value/error.h"

static msd_err tensor_of(const struct msd_rpc_session *s,
			 const struct msd_rpc_tensor *t, struct msd_rpc_shaped *ret,
			 struct msd_diag *d)
{
	const struct msd_device host = {MSD_DEV_CPU, 0};
	struct msd_rpc_place at;
	const msd_err err = msd_rpc_table_reach(&s->table, t, t->bytes, &at, d);

	if (err != MSD_OK)
		return err;
	for (uint32_t i = 0; i < t->ndim; i++)
		ret->shape[i] = msd_rpc_tensor_extent(t, i);
	ret->memory = at.memory;
	ret->dl =
		(struct msd_dltensor){.data = at.data - t->byte_offset,
				      .device = at.dev != NULL ? at.dev->device : host,
				      .ndim = (int32_t)t->ndim,
				      .dtype = t->dtype,
				      .shape = ret->shape,
				      .byte_offset = t->byte_offset};
	return MSD_OK;
}

static msd_err object_of(const struct msd_rpc_session *s, uint64_t handle,
			 struct msd_any *ret, struct msd_diag *d)
{
	const struct msd_rpc_object *o = msd_rpc_table_find(&s->table, handle);

	if (o != NULL && o->kind == MSD_RPC_IS_VALUE && msd_any_copy(&o->value, ret))
		return MSD_OK;
	if (o != NULL && o->kind == MSD_RPC_IS_FUNCTION) {
		msd_obj_ref(&o->function->obj);
		*ret = msd_of_obj(&o->function->obj);
		return MSD_OK;
	}
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "the session has no value with the handle %llu",
			    (unsigned long long)handle);
}

static msd_err any_of(const struct msd_rpc_session *s, const struct msd_rpc_value *v,
		      struct msd_rpc_shaped *shaped, struct msd_any *ret,
		      struct msd_diag *d)
{
	*ret = msd_none();
	switch ((int)v->kind) {
	case MSD_RPC_NONE:
		return MSD_OK;
	case MSD_RPC_INT:
		*ret = msd_int(v->as.i64);
		return MSD_OK;
	case MSD_RPC_BOOL:
		*ret = msd_bool(v->as.i64 != 0);
		return MSD_OK;
	case MSD_RPC_FLOAT:
		*ret = msd_float(v->as.f64);
		return MSD_OK;
	case MSD_RPC_DTYPE:
		*ret = (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = v->as.dtype};
		return MSD_OK;
	case MSD_RPC_DEVICE:
		*ret = (struct msd_any){.type = MSD_T_DEVICE,
					.as.device = v->as.device};
		return MSD_OK;
	case MSD_RPC_TENSOR:
		*ret = (struct msd_any){.type = MSD_T_DLTENSOR, .as.dl = &shaped->dl};
		return tensor_of(s, &v->as.tensor, shaped, d);
	case MSD_RPC_TEXT:
	case MSD_RPC_BYTES:
		return msd_any_text(v->as.bytes, v->kind == MSD_RPC_TEXT, ret)
			       ? MSD_OK
			       : msd_diag_no_memory(d);
	case MSD_RPC_FUNCTION:
	case MSD_RPC_MODULE:
	case MSD_RPC_OBJECT:
		return object_of(s, v->as.handle, ret, d);
	default: /* an address of the client's would be believed by compiled code */
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "a pointer cannot be an argument");
	}
}

msd_err msd_rpc_session_enter(const struct msd_rpc_object *o, struct msd_any *args,
			      uint32_t n, struct msd_any *ret, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	*ret = msd_none();
	if (o->module != NULL && o->module->loaded != NULL)
		return msd_loaded_call(o->module->loaded, o->function, args, n, ret, d);
	msd_abi_clear();
	if (o->function->call(o->function, args, (int32_t)n, ret) != 0)
		err = msd_abi_fetch_error(d);
	return err;
}

static msd_err enter(struct msd_rpc_session *s, const struct msd_rpc_object *o,
		     struct msd_any *args, uint32_t n, struct msd_any *ret,
		     struct msd_diag *d)
{
	msd_rpc_session_note(s, "call of", msd_function_name(o->function));
	const msd_err err = msd_rpc_session_enter(o, args, n, ret, d);
	msd_rpc_session_note(s, NULL, NULL);
	return err;
}

/* An executor may keep an argument, so the tensor gets an owner. */
static msd_err own_tensor(struct msd_any *v, const struct msd_rpc_shaped *shaped,
			  struct msd_diag *d)
{
	const struct msd_dltensor *dl = &shaped->dl;

	if (shaped->memory == NULL || dl->byte_offset > 0)
		return MSD_OK;
	struct msd_tensor *t =
		msd_tensor_view(dl->data, dl->device, dl->dtype, dl->shape,
				(size_t)dl->ndim, &shaped->memory->obj, NULL, NULL);
	if (t == NULL)
		return msd_diag_no_memory(d);
	*v = msd_of_obj(&t->obj);
	return MSD_OK;
}

/* Functions of the executor of one object. */
struct of_instance {
	struct msd_rpc_session *session;
	struct msd_rpc_module *module;
};

static msd_err call_of_instance(void *ctx, struct msd_function *function,
				struct msd_any *args, uint32_t n, struct msd_any *ret,
				struct msd_diag *d)
{
	const struct of_instance *of = ctx;
	const struct msd_rpc_object o = {.module = of->module, .function = function};

	return enter(of->session, &o, args, n, ret, d);
}

static msd_err call_any(struct msd_rpc_session *s, const struct msd_rpc_object *o,
			struct msd_any *args, uint32_t n, struct msd_diag *d)
{
	struct msd_any ret;
	msd_err err = enter(s, o, args, n, &ret, d);

	if (err != MSD_OK)
		return err;
	if (o->is_get_input && n == 1) {
		struct of_instance of = {s, o->module};
		err = msd_rpc_executor_share(o->executor, &args[0], &ret,
					     call_of_instance, &of, d);
	}
	if (err == MSD_OK) /* host memory that queued work reads may be freed next */
		err = msd_rpc_devices_sync(&s->devices, d);
	if (err == MSD_OK)
		return msd_rpc_session_result_any(s, &ret, o->executor, d);
	msd_any_drop(&ret);
	return err;
}

msd_err msd_rpc_session_call(struct msd_rpc_session *s, const struct msd_rpc_object *o,
			     struct msd_rpc_args *args, struct msd_diag *d)
{
	struct msd_any *anys = calloc((size_t)args->n + 1, sizeof(*anys));
	struct msd_rpc_shaped *shaped = calloc((size_t)args->n + 1, sizeof(*shaped));
	uint32_t n = 0;
	msd_err err = MSD_OK;

	if (anys == NULL || shaped == NULL) {
		free(anys);
		free(shaped);
		return msd_diag_no_memory(d);
	}
	while (err == MSD_OK && n < args->n) {
		err = any_of(s, &args->values[n], &shaped[n], &anys[n], d);
		if (err == MSD_OK && o->executor != NULL &&
		    anys[n].type == MSD_T_DLTENSOR)
			err = own_tensor(&anys[n], &shaped[n], d);
		if (err == MSD_OK)
			n++;
	}
	if (err == MSD_OK) {
		err = o->timer != NULL ? msd_rpc_session_time(s, o, anys, n, d)
				       : call_any(s, o, anys, n, d);
	}
	for (uint32_t i = 0; i < n; i++) {
		if (anys[i].type != MSD_T_DLTENSOR)
			msd_any_drop(&anys[i]);
	}
	free(anys);
	free(shaped);
	return err;
}
