/* Results of calls as values of TVM's RPC. Numbers go by value, objects by handle. */
#include "daemon/rpc_session/state.h"
#include "runtime/value/value.h"

/* Type codes of results where both eras differ from those of the values. */
#define CLASSIC_NONE 4
#define CLASSIC_MODULE 9
#define CLASSIC_FUNCTION 10
#define CLASSIC_TEXT 11
#define CLASSIC_BYTES 12
#define CLASSIC_TENSOR 7
#define CLASSIC_OBJECT 8

static void put(struct msd_rpc_session *s, const struct msd_rpc_value *v, uint32_t n)
{
	const struct msd_rpc_packet p = {.code = MSD_RPC_RETURN};

	s->out.n = 0;
	msd_rpc_packet_write(&s->out, &p, s->era, v, n);
}

void msd_rpc_session_return(struct msd_rpc_session *s, const struct msd_rpc_value *v)
{
	put(s, v, v != NULL ? 1 : 0);
}

void msd_rpc_session_result(struct msd_rpc_session *s, int32_t ffi_type,
			    int32_t classic_type, struct msd_rpc_value v)
{
	const int32_t type = s->era == MSD_RPC_FFI ? ffi_type : classic_type;
	const struct msd_rpc_value both[2] = {{.kind = MSD_RPC_INT, .as.i64 = type}, v};

	put(s, both, 2);
}

static int32_t classic_type(enum msd_rpc_object_kind kind)
{
	return kind == MSD_RPC_IS_MODULE || kind == MSD_RPC_IS_INSTANCE ? CLASSIC_MODULE
	       : kind == MSD_RPC_IS_VALUE                               ? CLASSIC_OBJECT
					  : CLASSIC_FUNCTION;
}

static int32_t ffi_type(enum msd_rpc_object_kind kind)
{
	return kind == MSD_RPC_IS_MODULE || kind == MSD_RPC_IS_INSTANCE ? MSD_T_MODULE
	       : kind == MSD_RPC_IS_VALUE                               ? MSD_T_OBJECT
					  : MSD_T_FUNCTION;
}

msd_err msd_rpc_session_result_object(struct msd_rpc_session *s,
				      const struct msd_rpc_object *o,
				      struct msd_diag *d)
{
	struct msd_rpc_value v = {.kind = MSD_RPC_POINTER};
	const msd_err err = msd_rpc_table_add(&s->table, o, &v.as.handle, d);

	if (err == MSD_OK)
		msd_rpc_session_result(s, ffi_type(o->kind), classic_type(o->kind), v);
	return err;
}

/* The handle of the elements is what copies name; the other one frees both. */
static msd_err result_tensor(struct msd_rpc_session *s, struct msd_any *v,
			     struct msd_rpc_executor *of, struct msd_diag *d)
{
	const struct msd_dltensor *dl = msd_any_dltensor(v);
	struct msd_rpc_object elements = {.kind = MSD_RPC_IS_ARRAY,
					  .data = (uint8_t *)dl->data + dl->byte_offset,
					  .bytes = msd_dltensor_bytes(dl)};
	struct msd_rpc_object owner = {
		.kind = MSD_RPC_IS_VALUE, .value = *v, .executor = of};
	struct msd_rpc_value three[3] = {
		{.kind = MSD_RPC_INT, .as.i64 = CLASSIC_TENSOR},
		{.kind = MSD_RPC_TENSOR},
		{.kind = MSD_RPC_POINTER}};
	uint8_t shape[MSD_MAX_NDIM * 8];
	struct msd_rpc_tensor *t = &three[1].as.tensor;

	if (dl->ndim < 0 || dl->ndim > MSD_MAX_NDIM || !msd_dltensor_is_compact(dl)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the result is not a compact tensor");
	}
	msd_err err = msd_rpc_devices_reach(&s->devices, dl->device, &elements.dev, d);
	if (err == MSD_OK)
		err = msd_rpc_table_add(&s->table, &elements, &owner.array, d);
	if (err != MSD_OK)
		return err;
	err = msd_rpc_table_add(&s->table, &owner, &three[2].as.handle, d);
	if (err != MSD_OK) {
		msd_rpc_table_remove(&s->table,
				     msd_rpc_table_find(&s->table, owner.array));
		return err;
	}
	for (int32_t i = 0; i < dl->ndim; i++)
		msd_put_le64(shape + 8 * (size_t)i, (uint64_t)dl->shape[i]);
	*t = (struct msd_rpc_tensor){.data = owner.array,
				     .device = dl->device,
				     .dtype = dl->dtype,
				     .ndim = (uint32_t)dl->ndim,
				     .shape = shape,
				     .bytes = elements.bytes};
	put(s, three, 3);
	return MSD_OK;
}

static bool result_plain(struct msd_rpc_session *s, const struct msd_any *v)
{
	struct msd_rpc_value r = {.kind = MSD_RPC_NONE};
	const bool is_ffi = s->era == MSD_RPC_FFI;

	switch ((int)v->type) {
	case MSD_T_NONE:
		msd_rpc_session_result(s, 0, CLASSIC_NONE, r);
		return true;
	case MSD_T_BOOL:
		r = (struct msd_rpc_value){.kind = is_ffi ? MSD_RPC_BOOL : MSD_RPC_INT,
					   .as.i64 = v->as.i != 0};
		msd_rpc_session_result(s, 2, 0, r);
		return true;
	case MSD_T_INT:
		r = (struct msd_rpc_value){.kind = MSD_RPC_INT, .as.i64 = v->as.i};
		msd_rpc_session_result(s, 1, 0, r);
		return true;
	case MSD_T_FLOAT:
		r = (struct msd_rpc_value){.kind = MSD_RPC_FLOAT, .as.f64 = v->as.f};
		msd_rpc_session_result(s, 3, 2, r);
		return true;
	case MSD_T_DTYPE:
		r = (struct msd_rpc_value){.kind = MSD_RPC_DTYPE,
					   .as.dtype = v->as.dtype};
		msd_rpc_session_result(s, 5, 5, r);
		return true;
	case MSD_T_DEVICE:
		r = (struct msd_rpc_value){.kind = MSD_RPC_DEVICE,
					   .as.device = v->as.device};
		msd_rpc_session_result(s, 6, 6, r);
		return true;
	default:
		return false;
	}
}

static bool result_text(struct msd_rpc_session *s, const struct msd_any *v)
{
	struct msd_rpc_value r = {.kind = MSD_RPC_TEXT};

	if (v->type != MSD_T_BYTES && v->type != MSD_T_SMALL_BYTES) {
		if (!msd_any_str(v, &r.as.bytes))
			return false;
		msd_rpc_session_result(s, MSD_T_STR, CLASSIC_TEXT, r);
		return true;
	}
	r.kind = MSD_RPC_BYTES;
	if (v->type == MSD_T_BYTES) {
		const struct msd_str *b = (const struct msd_str *)(void *)v->as.obj;
		r.as.bytes = (struct msd_span){(const uint8_t *)b->data, b->size};
	} else {
		r.as.bytes = (struct msd_span){(const uint8_t *)v->as.bytes, v->small};
	}
	msd_rpc_session_result(s, MSD_T_BYTES, CLASSIC_BYTES, r);
	return true;
}

msd_err msd_rpc_session_result_any(struct msd_rpc_session *s, struct msd_any *v,
				   struct msd_rpc_executor *of, struct msd_diag *d)
{
	struct msd_rpc_object o = {
		.kind = MSD_RPC_IS_VALUE, .value = *v, .executor = of};
	msd_err err = MSD_OK;

	if (result_plain(s, v))
		return MSD_OK;
	if (result_text(s, v)) {
		msd_any_drop(v);
		return MSD_OK;
	}
	if (v->type < MSD_T_OBJECT) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "a result of type %s",
				    msd_type_name(v->type));
	}
	if (v->type == MSD_T_FUNCTION) {
		o.kind = MSD_RPC_IS_FUNCTION;
		o.function = (struct msd_function *)(void *)v->as.obj;
		err = msd_rpc_session_result_object(s, &o, d);
	} else if (msd_any_dltensor(v) != NULL) {
		err = result_tensor(s, v, of, d);
	} else {
		err = msd_rpc_session_result_object(s, &o, d);
	}
	if (err != MSD_OK)
		msd_any_drop(v);
	return err;
}
