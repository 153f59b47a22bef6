/* Read and write the values of the protocol as msgpack, one kind each. */
#include "proto/value.h"

#include <string.h>

#include "proto/token.h"

static const char *const kind_names[MSD_K_COUNT] = {
	[MSD_K_NIL] = "nil",           [MSD_K_BOOL] = "bool",
	[MSD_K_INT] = "int",           [MSD_K_FLOAT] = "float",
	[MSD_K_STR] = "str",           [MSD_K_BYTES] = "bytes",
	[MSD_K_DTYPE] = "dtype",       [MSD_K_DEVICE] = "device",
	[MSD_K_SHAPE] = "shape",       [MSD_K_TENSOR] = "tensor",
	[MSD_K_FUNCTION] = "function", [MSD_K_MODULE] = "module",
	[MSD_K_INSTANCE] = "instance", [MSD_K_UPLOAD] = "upload",
	[MSD_K_TUPLE] = "tuple",       [MSD_K_OBJECT] = "object",
	[MSD_K_MAP] = "map",
};

const char *msd_kind_name(enum msd_kind kind)
{
	return (unsigned)kind < MSD_K_COUNT ? kind_names[kind] : "unknown";
}

/* Sign-extend a big-endian number of 1, 2, 4 or 8 bytes. */
static int64_t int_of(const struct msd_token *t)
{
	unsigned shift = (64 - 8 * t->n) % 64; /* no bytes: 0 */

	return (int64_t)(msd_be(t->data, t->n) << shift) >> shift;
}

static double float_of(const struct msd_token *t)
{
	uint64_t bits = msd_be(t->data, t->n);

	if (t->n == sizeof(float)) {
		uint32_t bits32 = (uint32_t)bits;
		float v;

		memcpy(&v, &bits32, sizeof(v));
		return v;
	}
	double v;
	memcpy(&v, &bits, sizeof(v));
	return v;
}

/* Size of the @n objects at @p with all their elements, or false if they do not fit. */
static bool objects_bytes(const uint8_t *p, size_t left, uint64_t n, size_t *ret)
{
	const uint8_t *begin = p;

	while (n > 0) {
		struct msd_token t;
		size_t used = msd_token_read(p, left, &t);

		if (used == 0)
			return false;
		p += used;
		left -= used;
		n--;
		if (!msd_token_has_data(t.kind)) {
			n += t.kind == MSD_TOK_MAP ? 2ull * t.n : t.n;
			if (n > left)
				return false;
		}
	}
	*ret = (size_t)(p - begin);
	return true;
}

static bool open_container(struct msd_span s, enum msd_token_kind kind,
			   struct msd_cur *ret, uint32_t *ret_n)
{
	struct msd_token t;
	size_t head = msd_token_read(s.p, s.n, &t);

	if (head == 0 || t.kind != kind)
		return false;
	*ret = (struct msd_cur){.p = s.p + head, .left = s.n - head};
	*ret_n = t.n;
	return true;
}

bool msd_array_open(struct msd_span array, struct msd_cur *ret, uint32_t *ret_n)
{
	return open_container(array, MSD_TOK_ARRAY, ret, ret_n);
}

bool msd_map_open(struct msd_span map, struct msd_cur *ret, uint32_t *ret_n)
{
	return open_container(map, MSD_TOK_MAP, ret, ret_n);
}

bool msd_object_parse(struct msd_cur *c, struct msd_span *ret)
{
	size_t n;

	if (c->bad || c->left == 0 || !objects_bytes(c->p, c->left, 1, &n))
		return false;
	*ret = (struct msd_span){.p = msd_cur_read(c, n), .n = n};
	return true;
}

static enum msd_kind kind_of_handle(int8_t ext)
{
	switch (ext) {
	case MSD_EXT_FUNCTION:
		return MSD_K_FUNCTION;
	case MSD_EXT_MODULE:
		return MSD_K_MODULE;
	case MSD_EXT_INSTANCE:
		return MSD_K_INSTANCE;
	default:
		return MSD_K_UPLOAD;
	}
}

static void read_shape(const struct msd_token *t, struct msd_wire_value *v)
{
	v->kind = MSD_K_SHAPE;
	v->as.shape.ndim = t->n / 8;
	for (uint32_t i = 0; i < v->as.shape.ndim; i++)
		v->as.shape.dim[i] = (int64_t)msd_le64(t->data + 8 * i);
}

/* Check lengths again, although the scan did: the reader is safe on any bytes. */
static msd_err read_ext(const struct msd_token *t, struct msd_wire_value *v,
			struct msd_diag *d)
{
	if (t->ext == MSD_EXT_TENSOR) {
		v->kind = MSD_K_TENSOR;
		v->as.tensor = (struct msd_span){.p = t->data, .n = t->n};
		return MSD_OK;
	}
	if (t->ext == MSD_EXT_SHAPE && t->n % 8 == 0 && t->n <= 8 * MSD_MAX_NDIM) {
		read_shape(t, v);
		return MSD_OK;
	}
	if (t->ext == MSD_EXT_DTYPE && t->n == 4) {
		v->kind = MSD_K_DTYPE;
		v->as.dtype = (struct msd_dtype){.code = t->data[0],
						 .bits = t->data[1],
						 .lanes = msd_le16(t->data + 2)};
		return MSD_OK;
	}
	if (t->ext == MSD_EXT_DEVICE && t->n == 8) {
		v->kind = MSD_K_DEVICE;
		v->as.device.type = (int32_t)msd_le32(t->data);
		v->as.device.id = (int32_t)msd_le32(t->data + 4);
		return MSD_OK;
	}
	if (t->ext >= MSD_EXT_FUNCTION && t->ext <= MSD_EXT_UPLOAD && t->n == 8) {
		v->kind = kind_of_handle(t->ext);
		v->as.handle = msd_handle_read(t->data);
		return MSD_OK;
	}
	if (t->ext == MSD_EXT_OBJECT && t->n >= MSD_WIRE_OBJECT_BYTES) {
		v->kind = MSD_K_OBJECT;
		v->as.object.handle = msd_handle_read(t->data);
		v->as.object.is_function = (t->data[8] & MSD_OBJECT_IS_FUNCTION) != 0;
		v->as.object.key =
			(struct msd_span){.p = t->data + MSD_WIRE_OBJECT_BYTES,
					  .n = t->n - MSD_WIRE_OBJECT_BYTES};
		return MSD_OK;
	}
	if (t->ext == MSD_EXT_MAP) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "the mark of a map is not the first of an array");
	}
	if (t->ext == MSD_EXT_RESULT_OF) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the result of an earlier request can be named to the daemon "
			"alone");
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "ext type %d of %u bytes is no value",
			    t->ext, t->n);
}

static msd_err read_uint(const struct msd_token *t, struct msd_wire_value *v,
			 struct msd_diag *d)
{
	uint64_t u = msd_be(t->data, t->n);

	if (u > INT64_MAX) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%llu does not fit in a signed 64-bit integer",
				    (unsigned long long)u);
	}
	v->kind = MSD_K_INT;
	v->as.i = (int64_t)u;
	return MSD_OK;
}

/* Values without elements. */
static msd_err read_plain(const struct msd_token *t, struct msd_wire_value *v,
			  struct msd_diag *d)
{
	switch (t->kind) {
	case MSD_TOK_NIL:
		v->kind = MSD_K_NIL;
		return MSD_OK;
	case MSD_TOK_BOOL:
		v->kind = MSD_K_BOOL;
		v->as.b = t->data[-1] == 0xc3; /* the head byte is the value */
		return MSD_OK;
	case MSD_TOK_UINT:
		return read_uint(t, v, d);
	case MSD_TOK_INT:
		v->kind = MSD_K_INT;
		v->as.i = int_of(t);
		return MSD_OK;
	case MSD_TOK_FLOAT:
		v->kind = MSD_K_FLOAT;
		v->as.f = float_of(t);
		return MSD_OK;
	case MSD_TOK_STR:
	case MSD_TOK_BIN:
		v->kind = t->kind == MSD_TOK_STR ? MSD_K_STR : MSD_K_BYTES;
		v->as.str = (struct msd_span){.p = t->data, .n = t->n};
		return MSD_OK;
	case MSD_TOK_EXT:
		return read_ext(t, v, d);
	case MSD_TOK_MAP:
		return msd_diag_set(d, MSD_BAD_ARGUMENT, "a map is no value");
	case MSD_TOK_BAD:
	case MSD_TOK_ARRAY:
		break;
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "value expected");
}

/* The array in @v begins with the mark of a map: it is one. */
static msd_err read_map(struct msd_wire_value *v, size_t mark, struct msd_diag *d)
{
	if (v->as.tuple.n % 2 == 0) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "a map has a key without a value");
	}
	v->kind = MSD_K_MAP;
	v->as.tuple.n /= 2;
	v->as.tuple.items.p += mark;
	v->as.tuple.items.n -= mark;
	return MSD_OK;
}

/* The bytes of the mark with which the array in @v begins; 0: it is a tuple. */
static size_t mark_of(const struct msd_wire_value *v)
{
	const struct msd_span items = v->as.tuple.items;
	struct msd_token t;

	if (items.n == 0 ||
	    (items.p[0] != 0xc7 && items.p[0] != 0xc8 && items.p[0] != 0xc9))
		return 0;
	const size_t n = msd_token_read(items.p, items.n, &t);
	return n > 0 && t.kind == MSD_TOK_EXT && t.ext == MSD_EXT_MAP && t.n == 0 ? n
										  : 0;
}

msd_err msd_value_read(struct msd_cur *c, struct msd_wire_value *ret,
		       struct msd_diag *d)
{
	struct msd_token t;
	size_t n = c->bad ? 0 : msd_token_read(c->p, c->left, &t);
	msd_err err = MSD_OK;

	if (n == 0) {
		c->bad = true;
		return msd_diag_set(d, MSD_BAD_REQUEST, "the bytes end inside a value");
	}
	if (t.kind == MSD_TOK_ARRAY) {
		size_t items;

		if (!objects_bytes(t.data, c->left - n, t.n, &items)) {
			c->bad = true;
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "the bytes end inside a tuple");
		}
		ret->kind = MSD_K_TUPLE;
		ret->as.tuple.n = t.n;
		ret->as.tuple.items = (struct msd_span){.p = t.data, .n = items};
		n += items;
		const size_t mark = mark_of(ret);
		if (mark > 0)
			err = read_map(ret, mark, d);
	} else {
		err = read_plain(&t, ret, d);
	}
	(void)msd_cur_read(c, n);
	return err;
}

bool msd_uints_read(struct msd_span array, uint32_t n, uint32_t *ret)
{
	struct msd_wire_value v = {0};
	struct msd_cur c;
	uint32_t n_there;

	if (!msd_array_open(array, &c, &n_there) || n_there != n)
		return false;
	for (uint32_t i = 0; i < n; i++) {
		if (msd_value_read(&c, &v, NULL) != MSD_OK || v.kind != MSD_K_INT ||
		    v.as.i < 0 || v.as.i > UINT32_MAX)
			return false;
		ret[i] = (uint32_t)v.as.i;
	}
	return true;
}

struct msd_span msd_map_value(struct msd_span map, const char *key)
{
	struct msd_span object, value;
	struct msd_wire_value name = {0};
	struct msd_cur c;
	uint32_t n;

	if (!msd_map_open(map, &c, &n))
		return (struct msd_span){0};
	while (n-- > 0 && msd_object_parse(&c, &object) &&
	       msd_object_parse(&c, &value)) {
		struct msd_cur in = msd_cur_of(object);

		if (msd_value_read(&in, &name, NULL) == MSD_OK &&
		    name.kind == MSD_K_STR && msd_span_is(name.as.str, key))
			return value;
	}
	return (struct msd_span){0};
}
