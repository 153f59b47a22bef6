/* Converts results of a call from values to msgpack: requested outputs are in their
 * slots; returned tensors elsewhere are copied to slots. */
#include <string.h>

#include "daemon/worker/calls/stage.h"
#include "daemon/worker/direct/direct_peer.h"
#include "daemon/worker/objects/client_memory.h"
#include "daemon/worker/objects/held_objects.h"
#include "proto/base/utf8.h"
#include "runtime/value/map.h"
#include "runtime/value/types.h"

/* Body, result pair and out list also count as levels in the reader's scan. */
#define MAX_RESULT_DEPTH (MSD_MAX_DEPTH - 3)
#define MAX_RESULT_VALUES (MSD_MAX_OBJECTS - 64)

/* An out slot that the call reserved. */
struct call_slot {
	struct call_slot *next;
	struct msd_slot slot;
	uint64_t bytes; /* bytes of its tensor */
	bool is_lent; /* the callee returns a tensor there, which is not written yet */
	struct msd_wire_tensor place; /* where a lent slot is */
};

/* Send TVM's older bool type as the common one. */
static struct msd_dtype wire_dtype(struct msd_dtype t)
{
	if (t.code == MSD_DT_UINT && t.bits == 1)
		return (struct msd_dtype){MSD_DT_BOOL, 8, t.lanes};
	return t;
}

/* Tensors of a direct peer's reply are consecutive in its payload, in the order of
 * their slots. */
static msd_err place_inline(struct msd_call *call, struct msd_wire_tensor *t,
			    struct msd_diag *d)
{
	const uint64_t at = (call->sent_bytes + MSD_TENSOR_ALIGN - 1) /
			    MSD_TENSOR_ALIGN * MSD_TENSOR_ALIGN;

	t->where = MSD_AT_INLINE;
	t->segment = 0;
	t->offset = t->bytes > 0 ? at : 0;
	if (t->bytes == 0)
		return MSD_OK;
	if (t->bytes > MSD_MAX_PAYLOAD_BYTES - at) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the results are more than the %llu bytes that a "
				    "frame may have",
				    (unsigned long long)MSD_MAX_PAYLOAD_BYTES);
	}
	call->sent_bytes = at + t->bytes;
	return MSD_OK;
}

msd_err msd_call_hand_over(struct msd_call *call, struct msd_diag *d)
{
	struct msd_slot *slots = NULL;
	uint32_t n = 0;

	for (const struct call_slot *s = call->slots; s != NULL; s = s->next)
		n++;
	if (n == 0)
		return MSD_OK;
	slots = msd_arena_alloc(call->arena, n * sizeof(*slots));
	if (slots == NULL)
		return msd_diag_no_memory(d);
	uint32_t at = n;
	for (const struct call_slot *s = call->slots; s != NULL; s = s->next) {
		slots[--at] = s->slot;
		slots[at].bytes = s->bytes; /* bytes to send */
	}
	return msd_direct_peer_keep(call->peer, slots, n, d);
}

msd_err msd_call_add_slot(struct msd_call *call, struct msd_wire_tensor *t,
			  enum msd_outpool_as as, uint8_t **ret_p, struct msd_diag *d)
{
	struct call_slot *s = msd_arena_alloc(call->arena, sizeof(*s));

	if (s == NULL)
		return msd_diag_no_memory(d);
	if (++call->n_result_tensors > MSD_MAX_TENSORS) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "more than %u tensors in one reply",
				    MSD_MAX_TENSORS);
	}
	msd_err err =
		call->peer->guest != NULL
			? msd_direct_peer_alloc(call->peer, t->bytes, as, &s->slot, d)
			: msd_outpool_alloc(&call->peer->out, t->bytes, as, &s->slot,
					    d);
	if (err != MSD_OK)
		return err;
	s->next = call->slots;
	call->slots = s;
	s->bytes = t->bytes;
	s->is_lent = false;
	t->device = (struct msd_device){.type = MSD_DEV_CPU};
	*ret_p = s->slot.p;
	if (call->peer->guest != NULL)
		return place_inline(call, t, d);
	t->where = MSD_AT_SEGMENT;
	t->segment = s->slot.segment;
	t->offset = s->slot.offset;
	return MSD_OK;
}

void msd_call_free_slots(struct msd_call *call)
{
	for (struct call_slot *s = call->slots; s != NULL; s = s->next) {
		(void)!msd_outpool_free(&call->peer->out, s->slot.segment,
					s->slot.offset);
	}
	call->slots = NULL;
}

/* Wide integers may be indexes: the callee must not read them back from memory that a
 * client shares. */
static void *lend(struct msd_result_memory *m, struct msd_dtype dtype, uint64_t bytes)
{
	struct msd_call *call = ((struct msd_call_lender *)m)->call;
	struct msd_wire_tensor t = {.dtype = wire_dtype(dtype), .bytes = bytes};
	uint8_t *p = NULL;

	if (msd_client_memory_is_copied(&t) ||
	    msd_call_add_slot(call, &t, MSD_OUT_FILLED, &p, NULL) != MSD_OK)
		return NULL; /* a copy reports the error */
	call->slots->is_lent = true;
	call->slots->place = t;
	return p;
}

void msd_call_lend(struct msd_call *call, struct msd_call_lender *l)
{
	*l = (struct msd_call_lender){{lend}, call};
	call->lends = true;
	msd_result_memory_set(&l->base);
}

/* The lent slot whose memory @t is; NULL: none. */
static struct call_slot *find_lent(const struct msd_call *call,
				   const struct msd_dltensor *t, uint64_t bytes)
{
	for (struct call_slot *s = call->slots; s != NULL; s = s->next) {
		if (s->is_lent && s->slot.p == t->data && s->bytes == bytes &&
		    t->byte_offset == 0)
			return s;
	}
	return NULL;
}

/* The reply describes @t, which the callee wrote into lent memory. */
static void take_lent(struct call_slot *s, struct msd_wire_tensor *t)
{
	s->is_lent = false;
	t->where = s->place.where;
	t->segment = s->place.segment;
	t->offset = s->place.offset;
	t->device = s->place.device;
}

/* Row-major copy of dimension @dim and the inner ones; returns the address behind the
 * last written byte. */
static uint8_t *copy_strided(const struct msd_dltensor *t, int32_t dim,
			     const uint8_t *src, size_t element_bytes, uint8_t *dst)
{
	if (dim == t->ndim) {
		memcpy(dst, src, element_bytes);
		return dst + element_bytes;
	}
	for (int64_t i = 0; i < t->shape[dim]; i++) {
		dst = copy_strided(t, dim + 1,
				   src + i * t->strides[dim] * (int64_t)element_bytes,
				   element_bytes, dst);
	}
	return dst;
}

static msd_err describe(const struct msd_dltensor *t, struct msd_wire_tensor *ret,
			struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];
	uint64_t n;

	if (t->ndim < 0 || t->ndim > MSD_MAX_NDIM || t->dtype.code == MSD_DT_HANDLE ||
	    (t->ndim > 0 && t->shape == NULL)) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the result is a tensor of %d dimensions of %s, which "
			"cannot be sent",
			(int)t->ndim, msd_dtype_format(t->dtype, name));
	}
	*ret = (struct msd_wire_tensor){.dtype = wire_dtype(t->dtype),
					.ndim = (uint32_t)t->ndim};
	if (t->ndim > 0)
		memcpy(ret->shape, t->shape, (size_t)t->ndim * sizeof(int64_t));
	if (!msd_shape_elements(ret->shape, ret->ndim, &n) ||
	    !msd_dtype_bytes(ret->dtype, n, &ret->bytes)) {
		return msd_diag_set(d, MSD_CALL_FAILED,
				    "the result is a tensor of an impossible shape");
	}
	if (t->data == NULL && ret->bytes > 0) {
		return msd_diag_set(d, MSD_CALL_FAILED,
				    "the result is a tensor without memory");
	}
	return MSD_OK;
}

static msd_err check_strides(const struct msd_dltensor *t, bool is_host,
			     struct msd_diag *d)
{
	if (!is_host) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the result is a strided tensor on a device");
	}
	if (t->dtype.bits % 8 != 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the result is a strided tensor of %u-bit elements",
				    t->dtype.bits);
	}
	return MSD_OK;
}

/* Copy @t into a slot or place, which @wire then names. */
static msd_err copy_tensor(struct msd_call *call, const struct msd_dltensor *t,
			   bool is_compact, struct msd_wire_tensor *wire,
			   struct msd_diag *d)
{
	const size_t element_bytes = (size_t)t->dtype.bits * t->dtype.lanes / 8;
	const bool is_host =
		t->device.type == MSD_DEV_CPU || t->device.type == MSD_DEV_CUDA_HOST;
	uint8_t *dst = NULL;
	msd_err err = is_compact ? MSD_OK : check_strides(t, is_host, d);

	if (err == MSD_OK)
		err = msd_call_seat(call, wire, &dst, d);
	if (err == MSD_OK && !is_host)
		err = msd_stage_back(call, t, dst, wire->bytes, d);
	if (err != MSD_OK || wire->bytes == 0 || !is_host)
		return err;
	const uint8_t *src = (const uint8_t *)t->data + t->byte_offset;
	if (is_compact) { /* a place may overlap the returned tensor */
		memmove(dst, src, wire->bytes);
	} else {
		(void)copy_strided(t, 0, src, element_bytes, dst);
	}
	return MSD_OK;
}

static msd_err write_tensor(struct msd_call *call, const struct msd_dltensor *t,
			    struct msd_buf *out, struct msd_diag *d)
{
	const bool is_compact = t->strides == NULL || msd_dltensor_is_compact(t);
	struct msd_wire_tensor wire = {0};
	msd_err err = describe(t, &wire, d);

	if (err != MSD_OK)
		return err;
	struct call_slot *lent =
		call->lends && is_compact ? find_lent(call, t, wire.bytes) : NULL;
	if (lent != NULL) {
		take_lent(lent, &wire);
	} else {
		err = copy_tensor(call, t, is_compact, &wire, d);
	}
	if (err == MSD_OK)
		msd_pack_tensor(out, &wire);
	return err;
}

static bool has_rows(const struct msd_dltensor *t, int64_t rows)
{
	return t != NULL && t->ndim >= 1 && t->ndim <= MSD_MAX_NDIM &&
	       t->shape[0] == rows && t->dtype.bits * t->dtype.lanes % 8 == 0 &&
	       msd_dltensor_is_compact(t);
}

bool msd_call_has_rows(const struct msd_any *v, int64_t rows)
{
	const struct msd_array *a = v->type == MSD_T_ARRAY ? v->as.p : NULL;

	if (a == NULL)
		return has_rows(msd_any_dltensor(v), rows);
	for (int64_t i = 0; i < a->size; i++) {
		if (!has_rows(msd_any_dltensor(&a->items[i]), rows))
			return false;
	}
	return true;
}

/* Write this call's rows of a tensor that a joined call returned. */
static msd_err write_rows(struct msd_call *call, const struct msd_dltensor *t,
			  struct msd_buf *out, struct msd_diag *d)
{
	int64_t shape[MSD_MAX_NDIM];
	struct msd_dltensor part = *t;
	uint64_t row_bytes = (uint64_t)t->dtype.bits * t->dtype.lanes / 8;

	memcpy(shape, t->shape, (size_t)t->ndim * sizeof(*shape));
	for (int32_t i = 1; i < t->ndim; i++)
		row_bytes *= (uint64_t)shape[i];
	shape[0] = call->rows.n;
	part.shape = shape;
	part.strides = NULL;
	part.byte_offset += (uint64_t)call->rows.first * row_bytes;
	return write_tensor(call, &part, out, d);
}

static msd_err too_many(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_TOO_LARGE, "more than %u values in one reply",
			    MAX_RESULT_VALUES);
}

static msd_err too_deep(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "the result nests deeper than %u tuples and maps",
			    MAX_RESULT_DEPTH);
}

static msd_err write_tuple(struct msd_call *call, const struct msd_array *a,
			   unsigned depth, struct msd_buf *out, struct msd_diag *d)
{
	if (depth >= MAX_RESULT_DEPTH)
		return too_deep(d);
	if (a->size < 0 || a->size > MAX_RESULT_VALUES - call->n_result_values)
		return too_many(d);
	msd_pack_array(out, (size_t)a->size);
	for (int64_t i = 0; i < a->size; i++) {
		msd_err err =
			msd_call_write_value(call, &a->items[i], depth + 1, out, d);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

/* A library may have made the map, or be at fault in it. */
static msd_err write_map(struct msd_call *call, const struct msd_map *map,
			 unsigned depth, struct msd_buf *out, struct msd_diag *d)
{
	struct msd_map_walk walk = msd_map_begin(map);
	const struct msd_pair *p;
	uint64_t n = 0;
	msd_err err = MSD_OK;

	if (depth >= MAX_RESULT_DEPTH)
		return too_deep(d);
	if (map->size > (MAX_RESULT_VALUES - call->n_result_values) / 2)
		return too_many(d);
	msd_pack_map_value(out, (size_t)map->size);
	while (err == MSD_OK && (p = msd_map_next(&walk)) != NULL) {
		err = msd_call_write_value(call, &p->key, depth + 1, out, d);
		if (err == MSD_OK)
			err = msd_call_write_value(call, &p->value, depth + 1, out, d);
		n++;
	}
	if (err == MSD_OK && n != map->size) {
		return msd_diag_set(d, MSD_CALL_FAILED,
				    "the result holds a damaged map: %llu of its %llu "
				    "pairs are found",
				    (unsigned long long)n,
				    (unsigned long long)map->size);
	}
	return err;
}

static msd_err write_bytes(struct msd_span s, bool is_text, struct msd_buf *out,
			   struct msd_diag *d)
{
	if (s.n > MSD_MAX_BODY_BYTES) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "a text of %zu bytes, more than the %u of a reply",
				    s.n, MSD_MAX_BODY_BYTES);
	}
	if (is_text && msd_utf8_valid(s)) {
		msd_pack_str(out, (const char *)s.p, s.n);
	} else {
		msd_pack_bin(out, s.p, s.n);
	}
	return MSD_OK;
}

static msd_err refuse_guest(const struct msd_any *v, struct msd_diag *d)
{
	const struct msd_bytes key = msd_type_info(v->type)->key;

	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "the result holds a value of type %.*s, which a direct "
			    "channel does not carry: call the function through the "
			    "daemon",
			    (int)(key.size < 256 ? key.size : 256), key.data);
}

static msd_err write_object(struct msd_call *call, const struct msd_any *v,
			    unsigned depth, struct msd_buf *out, struct msd_diag *d)
{
	const void *obj = v->as.p;

	if (v->type == MSD_T_ARRAY || v->type == MSD_T_LIST)
		return write_tuple(call, obj, depth, out, d);
	if (v->type == MSD_T_SHAPE) {
		const struct msd_shape *s = obj;
		if (s->ndim > MSD_MAX_NDIM) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "the result is a shape of %zu dimensions",
					    s->ndim);
		}
		msd_pack_shape(out, s->dim, s->ndim);
		return MSD_OK;
	}
	if (call->peer->guest != NULL)
		return refuse_guest(v, d);
	if (v->type == MSD_T_MAP || v->type == MSD_T_DICT)
		return write_map(call, obj, depth, out, d);
	if (v->type >= MSD_T_OBJECT && msd_type_info(v->type)->type == v->type)
		return msd_held_objects_give(call, v->as.obj, out, d);
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "the result is a value of kind %s (type %d), which cannot "
			    "be sent",
			    msd_type_name(v->type), v->type);
}

msd_err msd_call_write_value(struct msd_call *call, const struct msd_any *v,
			     unsigned depth, struct msd_buf *out, struct msd_diag *d)
{
	struct msd_span text;
	const struct msd_dltensor *tensor = msd_any_dltensor(v);

	if (++call->n_result_values > MAX_RESULT_VALUES) {
		return too_many(d);
	}
	if (tensor != NULL && call->rows.n > 0)
		return write_rows(call, tensor, out, d);
	if (tensor != NULL)
		return write_tensor(call, tensor, out, d);
	switch (v->type) {
	case MSD_T_NONE:
		msd_pack_nil(out);
		return MSD_OK;
	case MSD_T_INT:
		msd_pack_int(out, v->as.i);
		return MSD_OK;
	case MSD_T_BOOL:
		msd_pack_bool(out, v->as.i != 0);
		return MSD_OK;
	case MSD_T_FLOAT:
		msd_pack_float(out, v->as.f);
		return MSD_OK;
	case MSD_T_DTYPE:
		msd_pack_dtype(out, v->as.dtype);
		return MSD_OK;
	case MSD_T_DEVICE:
		msd_pack_device(out, v->as.device);
		return MSD_OK;
	default:
		break;
	}
	if (msd_any_str(v, &text)) {
		const bool is_bytes = v->type == MSD_T_BYTES ||
				      v->type == MSD_T_SMALL_BYTES ||
				      v->type == MSD_T_BYTE_ARRAY;
		return write_bytes(text, !is_bytes, out, d);
	}
	return write_object(call, v, depth, out, d);
}

msd_err msd_call_write_result(struct msd_call *call, const struct msd_any *v,
			      struct msd_buf *out, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	if (v->type == MSD_T_NONE) { /* usual for functions that fill out tensors */
		msd_pack_nil(out);
	} else {
		err = msd_call_write_value(call, v, 0, out, d);
	}
	if (err == MSD_OK && call->places != NULL) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "%u out tensors are given for results, but fewer "
				    "tensors are returned",
				    call->n_places);
	}
	return err;
}
