/*
 * Happy path: a value's type code names its kind, and its bytes follow. Failures: the
 * type code is not known, the packet ends within the value, a tensor is impossible.
 */
#include "proto/tvm_rpc/value.h"

#define FFI_TEXT_OBJECT 65 /* a text that has an object of its own */
#define FFI_BYTES_OBJECT 66
#define FFI_SHORT_TEXT 11 /* the same objects, short enough for a value */
#define FFI_SHORT_BYTES 12
#define FFI_REMOTE_OBJECT 115
#define CLASSIC_UNSIGNED 1
#define CLASSIC_REMOTE_OBJECT 9 /* the word behind the type code of an object */

/* Type codes of the kinds. CLASSIC_UNSIGNED and the objects of ffi come beside them. */
static const int32_t type_of[MSD_RPC_ERA_COUNT][MSD_RPC_KIND_COUNT] = {
	[MSD_RPC_FFI] = {[MSD_RPC_NONE] = 0,
			 [MSD_RPC_INT] = 1,
			 [MSD_RPC_BOOL] = 2,
			 [MSD_RPC_FLOAT] = 3,
			 [MSD_RPC_POINTER] = 4,
			 [MSD_RPC_DTYPE] = 5,
			 [MSD_RPC_DEVICE] = 6,
			 [MSD_RPC_TENSOR] = 7,
			 [MSD_RPC_TEXT] = 8,
			 [MSD_RPC_BYTES] = 9,
			 [MSD_RPC_FUNCTION] = 68,
			 [MSD_RPC_MODULE] = 73,
			 [MSD_RPC_OBJECT] = FFI_REMOTE_OBJECT},
	[MSD_RPC_CLASSIC] = {[MSD_RPC_NONE] = 4,
			     [MSD_RPC_INT] = 0,
			     [MSD_RPC_BOOL] = 15,
			     [MSD_RPC_FLOAT] = 2,
			     [MSD_RPC_POINTER] = 3,
			     [MSD_RPC_DTYPE] = 5,
			     [MSD_RPC_DEVICE] = 6,
			     [MSD_RPC_TENSOR] = 7,
			     [MSD_RPC_TEXT] = 11,
			     [MSD_RPC_BYTES] = 12,
			     [MSD_RPC_FUNCTION] = 10,
			     [MSD_RPC_MODULE] = 9,
			     [MSD_RPC_OBJECT] = 8},
};

static bool kind_of(enum msd_rpc_era era, int32_t type, enum msd_rpc_kind *ret)
{
	if (era == MSD_RPC_CLASSIC && type == CLASSIC_UNSIGNED) {
		*ret = MSD_RPC_INT;
		return true;
	}
	if (era == MSD_RPC_FFI && (type == FFI_TEXT_OBJECT || type == FFI_SHORT_TEXT)) {
		*ret = MSD_RPC_TEXT;
		return true;
	}
	if (era == MSD_RPC_FFI &&
	    (type == FFI_BYTES_OBJECT || type == FFI_SHORT_BYTES)) {
		*ret = MSD_RPC_BYTES;
		return true;
	}
	for (unsigned kind = 0; kind < MSD_RPC_KIND_COUNT; kind++) {
		if (type_of[era][kind] == type) {
			*ret = (enum msd_rpc_kind)kind;
			return true;
		}
	}
	return false;
}

/* The word that repeats the object's type behind its type code; 0: there is none. */
static uint32_t object_word(enum msd_rpc_era era, int32_t type)
{
	if (era == MSD_RPC_CLASSIC) {
		return type == type_of[era][MSD_RPC_OBJECT] ? CLASSIC_REMOTE_OBJECT : 0;
	}
	switch (type) {
	case FFI_TEXT_OBJECT:
	case FFI_SHORT_TEXT:
		return FFI_TEXT_OBJECT;
	case FFI_BYTES_OBJECT:
	case FFI_SHORT_BYTES:
		return FFI_BYTES_OBJECT;
	case FFI_REMOTE_OBJECT:
		return FFI_REMOTE_OBJECT;
	default:
		return 0;
	}
}

static msd_err too_short(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_REQUEST, "the packet ends within a value");
}

/* The bytes of all elements, of which each fills whole bytes. False: over 64 bits. */
static bool find_size(struct msd_rpc_tensor *t)
{
	const uint64_t bits = (uint64_t)t->dtype.bits * t->dtype.lanes;
	size_t n = (size_t)((bits + 7) / 8);

	for (uint32_t i = 0; i < t->ndim; i++) {
		if (!msd_mul_size(n, (size_t)msd_rpc_tensor_extent(t, i), &n))
			return false;
	}
	t->bytes = n;
	return true;
}

static msd_err check_shape(struct msd_rpc_tensor *t, struct msd_diag *d)
{
	for (uint32_t i = 0; i < t->ndim; i++) {
		const int64_t extent = msd_rpc_tensor_extent(t, i);

		if (extent < 0) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "dimension %u of a tensor is %lld", i,
					    (long long)extent);
		}
	}
	return find_size(t) ? MSD_OK
			    : msd_diag_set(d, MSD_BAD_REQUEST,
					   "the extents of a tensor overflow 64 bits");
}

msd_err msd_rpc_tensor_read(struct msd_cur *c, struct msd_rpc_tensor *ret,
			    struct msd_diag *d)
{
	ret->data = msd_cur_u64(c);
	ret->device.type = msd_cur_i32(c);
	ret->device.id = msd_cur_i32(c);
	const int32_t ndim = msd_cur_i32(c);
	ret->dtype.code = msd_cur_u8(c);
	ret->dtype.bits = msd_cur_u8(c);
	ret->dtype.lanes = msd_cur_u16(c);
	if (c->bad)
		return too_short(d);
	if (ndim < 0 || ndim > MSD_MAX_NDIM) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a tensor has %d dimensions; 0 to %d are possible",
				    ndim, MSD_MAX_NDIM);
	}
	ret->ndim = (uint32_t)ndim;
	ret->shape = msd_cur_read(c, ret->ndim * sizeof(int64_t));
	ret->byte_offset = msd_cur_u64(c);
	return c->bad ? too_short(d) : check_shape(ret, d);
}

void msd_rpc_tensor_write(struct msd_buf *out, const struct msd_rpc_tensor *t)
{
	msd_buf_put_u64(out, t->data);
	msd_buf_put_u32(out, (uint32_t)t->device.type);
	msd_buf_put_u32(out, (uint32_t)t->device.id);
	msd_buf_put_u32(out, t->ndim);
	msd_buf_put_u8(out, t->dtype.code);
	msd_buf_put_u8(out, t->dtype.bits);
	msd_buf_put_u16(out, t->dtype.lanes);
	msd_buf_put(out, t->shape, t->ndim * sizeof(int64_t));
	msd_buf_put_u64(out, t->byte_offset);
}

static msd_err read_value(struct msd_cur *c, struct msd_rpc_value *ret,
			  struct msd_diag *d)
{
	switch (ret->kind) {
	case MSD_RPC_INT:
	case MSD_RPC_BOOL:
		ret->as.i64 = msd_cur_i64(c);
		break;
	case MSD_RPC_FLOAT:
		ret->as.f64 = msd_cur_f64(c);
		break;
	case MSD_RPC_POINTER:
	case MSD_RPC_FUNCTION:
	case MSD_RPC_MODULE:
	case MSD_RPC_OBJECT:
		ret->as.handle = msd_cur_u64(c);
		break;
	case MSD_RPC_DTYPE:
		ret->as.dtype.code = msd_cur_u8(c);
		ret->as.dtype.bits = msd_cur_u8(c);
		ret->as.dtype.lanes = msd_cur_u16(c);
		(void)msd_cur_u32(c); /* padding */
		break;
	case MSD_RPC_DEVICE:
		ret->as.device.type = msd_cur_i32(c);
		ret->as.device.id = msd_cur_i32(c);
		break;
	case MSD_RPC_TENSOR:
		return msd_rpc_tensor_read(c, &ret->as.tensor, d);
	case MSD_RPC_TEXT:
	case MSD_RPC_BYTES:
		ret->as.bytes = msd_cur_str64(c);
		break;
	case MSD_RPC_NONE:
	case MSD_RPC_KIND_COUNT:
	default:
		break;
	}
	return c->bad ? too_short(d) : MSD_OK;
}

msd_err msd_rpc_seq_begin(struct msd_rpc_seq *s, enum msd_rpc_era era,
			  struct msd_span bytes, struct msd_diag *d)
{
	*s = (struct msd_rpc_seq){.era = era, .at = msd_cur_of(bytes)};
	s->n = msd_cur_u32(&s->at);
	if (s->at.bad)
		return too_short(d);
	if (s->n > MSD_RPC_MAX_VALUES) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%d values; at most %u are possible", (int)s->n,
				    MSD_RPC_MAX_VALUES);
	}
	if (era == MSD_RPC_CLASSIC)
		s->types = msd_cur_read(&s->at, s->n * sizeof(int32_t));
	return s->at.bad ? too_short(d) : MSD_OK;
}

static int32_t next_type(struct msd_rpc_seq *s)
{
	if (s->era == MSD_RPC_FFI)
		return msd_cur_i32(&s->at);
	const int32_t type = (int32_t)msd_le32(s->types);

	s->types += sizeof(int32_t);
	return type;
}

msd_err msd_rpc_seq_next(struct msd_rpc_seq *s, struct msd_rpc_value *ret,
			 struct msd_diag *d)
{
	*ret = (struct msd_rpc_value){.type = next_type(s)};
	s->n--;
	if (s->at.bad)
		return too_short(d);
	if (!kind_of(s->era, ret->type, &ret->kind)) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "a value has type %d, which is not known",
				    ret->type);
	}
	const uint32_t word = object_word(s->era, ret->type);
	const uint32_t got = word != 0 ? msd_cur_u32(&s->at) : 0;
	if (s->at.bad)
		return too_short(d);
	if (got != word) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "an object of type %d says that it has type %u",
				    ret->type, got);
	}
	return read_value(&s->at, ret, d);
}

msd_err msd_rpc_seq_end(const struct msd_rpc_seq *s, struct msd_diag *d)
{
	if (msd_cur_end(&s->at))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "%zu bytes follow the last value of a packet", s->at.left);
}

msd_err msd_rpc_seq_check(enum msd_rpc_era era, struct msd_span bytes,
			  struct msd_diag *d)
{
	struct msd_rpc_seq s;
	struct msd_rpc_value v;
	msd_err err = msd_rpc_seq_begin(&s, era, bytes, d);

	while (err == MSD_OK && s.n > 0)
		err = msd_rpc_seq_next(&s, &v, d);
	return err == MSD_OK ? msd_rpc_seq_end(&s, d) : err;
}

static int32_t type_to_write(enum msd_rpc_era era, const struct msd_rpc_value *v)
{
	return v->type != 0 ? v->type : type_of[era][v->kind];
}

static void write_value(struct msd_buf *out, enum msd_rpc_era era,
			const struct msd_rpc_value *v)
{
	const uint32_t word = object_word(era, type_to_write(era, v));

	if (word != 0)
		msd_buf_put_u32(out, word);
	switch (v->kind) {
	case MSD_RPC_INT:
	case MSD_RPC_BOOL:
		msd_buf_put_u64(out, (uint64_t)v->as.i64);
		break;
	case MSD_RPC_FLOAT: {
		uint64_t bits;

		memcpy(&bits, &v->as.f64, sizeof(bits));
		msd_buf_put_u64(out, bits);
		break;
	}
	case MSD_RPC_POINTER:
	case MSD_RPC_FUNCTION:
	case MSD_RPC_MODULE:
	case MSD_RPC_OBJECT:
		msd_buf_put_u64(out, v->as.handle);
		break;
	case MSD_RPC_DTYPE:
		msd_buf_put_u8(out, v->as.dtype.code);
		msd_buf_put_u8(out, v->as.dtype.bits);
		msd_buf_put_u16(out, v->as.dtype.lanes);
		msd_buf_put_u32(out, 0);
		break;
	case MSD_RPC_DEVICE:
		msd_buf_put_u32(out, (uint32_t)v->as.device.type);
		msd_buf_put_u32(out, (uint32_t)v->as.device.id);
		break;
	case MSD_RPC_TENSOR:
		msd_rpc_tensor_write(out, &v->as.tensor);
		break;
	case MSD_RPC_TEXT:
	case MSD_RPC_BYTES:
		msd_buf_put_str64(out, v->as.bytes.p, v->as.bytes.n);
		break;
	case MSD_RPC_NONE:
	case MSD_RPC_KIND_COUNT:
	default:
		break;
	}
}

void msd_rpc_seq_write(struct msd_buf *out, enum msd_rpc_era era,
		       const struct msd_rpc_value *values, uint32_t n)
{
	msd_buf_put_u32(out, n);
	if (era == MSD_RPC_CLASSIC) {
		for (uint32_t i = 0; i < n; i++)
			msd_buf_put_u32(out, (uint32_t)type_to_write(era, &values[i]));
	}
	for (uint32_t i = 0; i < n; i++) {
		if (era == MSD_RPC_FFI)
			msd_buf_put_u32(out, (uint32_t)type_to_write(era, &values[i]));
		write_value(out, era, &values[i]);
	}
}
