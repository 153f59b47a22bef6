/*
 * The tensor ext and handles of proto/value.h: fields of fixed width at fixed
 * offsets, so a forwarder can change the place of the bytes alone. The reader checks
 * everything that does not need the payload: element type, dimensions, their product
 * against the size, and the kind of place.
 */
#include <inttypes.h>
#include <string.h>

#include "proto/limits.h"
#include "proto/value.h"

enum { /* offsets in the ext's data */
       AT_WHERE = 0,
       AT_CODE = 1,
       AT_BITS = 2,
       AT_NDIM = 3,
       AT_LANES = 4,
       AT_SEGMENT = 6,
       AT_DEVICE_TYPE = 8,
       AT_DEVICE_ID = 12,
       AT_OFFSET = 16,
       AT_BYTES = 24,
       AT_SHAPE = 32,
};

struct msd_handle msd_handle_read(const uint8_t data[static 8])
{
	return (struct msd_handle){.slot = msd_le32(data),
				   .generation = msd_le32(data + 4)};
}

void msd_handle_write(struct msd_handle h, uint8_t out[static 8])
{
	msd_put_le32(out, h.slot);
	msd_put_le32(out + 4, h.generation);
}

msd_err msd_wire_dtype_check(struct msd_dtype t, struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];

	if (t.code <= MSD_DT_F4_E2M1FN && t.code != MSD_DT_HANDLE && t.bits > 0 &&
	    t.lanes > 0 && !(t.code == MSD_DT_UINT && t.bits == 1) &&
	    (t.code != MSD_DT_BOOL || t.bits == 8))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_REQUEST,
			    "element type <%u,%u,%u> (%s) is not supported by the "
			    "protocol (bool is <6,8,1>)",
			    t.code, t.bits, t.lanes, msd_dtype_format(t, name));
}

static msd_err check_place(const struct msd_wire_tensor *t, struct msd_diag *d)
{
	const bool is_out = t->where == MSD_AT_OUT;

	if (t->where != MSD_AT_SEGMENT && !is_out && t->segment != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tensor: segment %u is given, but its location is "
				    "not a segment",
				    t->segment);
	}
	if (is_out && t->segment == 0 && t->offset != 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tensor: an out tensor has no offset unless it is "
				    "in a segment");
	}
	switch (t->where) {
	case MSD_AT_INLINE:
	case MSD_AT_SEGMENT:
	case MSD_AT_OUT:
		if (t->offset % MSD_TENSOR_ALIGN != 0) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "tensor: offset %" PRIu64
					    " is not a multiple of %u",
					    t->offset, MSD_TENSOR_ALIGN);
		}
		return MSD_OK;
	case MSD_AT_RESIDENT:
		if (t->handle.generation == 0) {
			return msd_diag_set(d, MSD_BAD_REQUEST,
					    "tensor: a handle's generation is never 0");
		}
		return MSD_OK;
	}
	return msd_diag_set(d, MSD_BAD_REQUEST, "tensor: place %d is unknown",
			    (int)t->where);
}

static msd_err check_bytes(const struct msd_wire_tensor *t, struct msd_diag *d)
{
	uint64_t n, bytes;

	if (!msd_shape_elements(t->shape, t->ndim, &n) ||
	    !msd_dtype_bytes(t->dtype, n, &bytes)) {
		return msd_diag_set(
			d, MSD_BAD_REQUEST,
			"tensor: the shape has an extent below zero or a size "
			"beyond 64 bits");
	}
	if (bytes != t->bytes) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tensor: %" PRIu64
				    " bytes given, but its shape and "
				    "type make %" PRIu64,
				    t->bytes, bytes);
	}
	return MSD_OK;
}

msd_err msd_wire_tensor_read(const uint8_t *data, size_t n, struct msd_wire_tensor *ret,
			     struct msd_diag *d)
{
	if (n < MSD_WIRE_TENSOR_BYTES || data[AT_NDIM] > MSD_MAX_NDIM ||
	    n != MSD_WIRE_TENSOR_BYTES + 8u * data[AT_NDIM]) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "tensor: %zu bytes are not %u and 8 for each of at "
				    "most %u dimensions",
				    n, MSD_WIRE_TENSOR_BYTES, MSD_MAX_NDIM);
	}
	ret->where = (enum msd_where)data[AT_WHERE];
	ret->dtype = (struct msd_dtype){.code = data[AT_CODE],
					.bits = data[AT_BITS],
					.lanes = msd_le16(data + AT_LANES)};
	ret->device =
		(struct msd_device){.type = (int32_t)msd_le32(data + AT_DEVICE_TYPE),
				    .id = (int32_t)msd_le32(data + AT_DEVICE_ID)};
	ret->segment = msd_le16(data + AT_SEGMENT);
	ret->offset = msd_le64(data + AT_OFFSET);
	ret->handle = (struct msd_handle){0};
	if (ret->where == MSD_AT_RESIDENT) {
		ret->handle = msd_handle_read(data + AT_OFFSET);
		ret->offset = 0;
	}
	ret->bytes = msd_le64(data + AT_BYTES);
	ret->ndim = data[AT_NDIM];
	for (uint32_t i = 0; i < ret->ndim; i++)
		ret->shape[i] = (int64_t)msd_le64(data + AT_SHAPE + 8 * i);

	msd_err err = msd_wire_dtype_check(ret->dtype, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "tensor");
	err = check_place(ret, d);
	return err == MSD_OK ? check_bytes(ret, d) : err;
}

size_t msd_wire_tensor_write(const struct msd_wire_tensor *t, uint8_t *out)
{
	out[AT_WHERE] = (uint8_t)t->where;
	out[AT_CODE] = t->dtype.code;
	out[AT_BITS] = t->dtype.bits;
	out[AT_NDIM] = (uint8_t)t->ndim;
	msd_put_le16(out + AT_LANES, t->dtype.lanes);
	msd_put_le16(out + AT_SEGMENT, t->segment);
	msd_put_le32(out + AT_DEVICE_TYPE, (uint32_t)t->device.type);
	msd_put_le32(out + AT_DEVICE_ID, (uint32_t)t->device.id);
	if (t->where == MSD_AT_RESIDENT) {
		msd_handle_write(t->handle, out + AT_OFFSET);
	} else {
		msd_put_le64(out + AT_OFFSET, t->offset);
	}
	msd_put_le64(out + AT_BYTES, t->bytes);
	for (uint32_t i = 0; i < t->ndim; i++)
		msd_put_le64(out + AT_SHAPE + 8 * i, (uint64_t)t->shape[i]);
	return MSD_WIRE_TENSOR_BYTES + 8u * t->ndim;
}

void msd_wire_tensor_patch(uint8_t *data, enum msd_where where, uint16_t segment,
			   uint64_t offset)
{
	data[AT_WHERE] = (uint8_t)where;
	msd_put_le16(data + AT_SEGMENT, segment);
	msd_put_le64(data + AT_OFFSET, offset);
}

bool msd_wire_tensor_in_segment(const uint8_t *data, uint16_t *ret_segment,
				uint64_t *ret_offset)
{
	*ret_segment = msd_le16(data + AT_SEGMENT);
	*ret_offset = msd_le64(data + AT_OFFSET);
	return data[AT_WHERE] == MSD_AT_SEGMENT;
}

void msd_wire_tensor_move(uint8_t *data, const uint8_t *from)
{
	memcpy(data + AT_SEGMENT, from + AT_SEGMENT, sizeof(uint16_t));
	memcpy(data + AT_OFFSET, from + AT_OFFSET, sizeof(uint64_t));
}
