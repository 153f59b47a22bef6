/*
 * Finds the bytes of a tensor: in a segment of the supervisor or of a client, or
 * resident in this process. A place that does not exist or does not match is refused,
 * with its numbers.
 */
#include <string.h>

#include "daemon/worker/objects/client_memory.h"

msd_err msd_tensor_check_kind(const struct msd_wire_tensor *t, struct msd_diag *d)
{
	if (t->dtype.code == MSD_DT_HANDLE) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "tensor of pointers: pointers are not valid in "
				    "another process");
	}
	return MSD_OK;
}

static msd_err locate_resident(const struct msd_peer *peer,
			       const struct msd_wire_tensor *t, uint8_t **ret_p,
			       struct msd_device *ret_device,
			       struct msd_obj **ret_owner, struct msd_diag *d)
{
	struct msd_tensor *r = msd_resident_tensors_peek(&peer->residents, t->handle);

	if (r == NULL) {
		return msd_diag_set(d, MSD_STALE_HANDLE,
				    "tensor handle %u.%u: the tensor is gone",
				    t->handle.slot, t->handle.generation);
	}
	if (!msd_dtype_eq(r->dl.dtype, t->dtype) || r->dl.ndim != (int32_t)t->ndim ||
	    memcmp(r->dl.shape, t->shape, t->ndim * sizeof(int64_t)) != 0) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"tensor handle %u.%u: not the dtype and shape it was "
			"made with",
			t->handle.slot, t->handle.generation);
	}
	*ret_p = r->dl.data;
	*ret_device = r->dl.device;
	*ret_owner = &r->obj;
	return MSD_OK;
}

msd_err msd_client_memory_locate(const struct msd_peer *peer,
				 const struct msd_wire_tensor *t, uint8_t **ret,
				 struct msd_diag *d)
{
	*ret = msd_segmap_at(&peer->in, t->segment, t->offset, t->bytes);
	if (*ret != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_NO_SPACE,
			    "the worker could not map its segment: see its logs");
}

/* Address of tensors without elements. */
static uint8_t no_bytes[MSD_TENSOR_ALIGN] __attribute__((aligned(MSD_TENSOR_ALIGN)));

/* Find an inline tensor in the running request of a direct peer; the supervisor uses
 * segments. */
static msd_err locate_inline(const struct msd_peer *peer,
			     const struct msd_wire_tensor *t, uint8_t **ret,
			     struct msd_diag *d)
{
	const struct msd_span all = peer->payload;

	if (peer->guest == NULL) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "inline tensor: a worker takes them in segments");
	}
	if (t->offset > all.n || t->bytes > all.n - t->offset) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "an inline tensor at offset %llu of %llu bytes is "
				    "not inside the payload of %zu bytes",
				    (unsigned long long)t->offset,
				    (unsigned long long)t->bytes, all.n);
	}
	/* The request's own memory, which its function may write to. */
	*ret = (uint8_t *)(uintptr_t)all.p + t->offset;
	return MSD_OK;
}

msd_err msd_call_locate(const struct msd_peer *peer, const struct msd_wire_tensor *t,
			uint8_t **ret_p, struct msd_device *ret_device,
			struct msd_obj **ret_owner, struct msd_diag *d)
{
	*ret_device = (struct msd_device){MSD_DEV_CPU, 0};
	*ret_owner = NULL;
	msd_err err = msd_tensor_check_kind(t, d);
	if (err != MSD_OK)
		return err;
	switch (t->where) {
	case MSD_AT_RESIDENT:
		return locate_resident(peer, t, ret_p, ret_device, ret_owner, d);
	case MSD_AT_SEGMENT:
		if (msd_client_memory_has(t))
			return msd_client_memory_locate(peer, t, ret_p, d);
		*ret_p = msd_segmap_at(&peer->in, t->segment, t->offset, t->bytes);
		if (*ret_p == NULL) {
			return msd_diag_set(
				d, MSD_BAD_ARGUMENT,
				"tensor of %llu bytes at %llu is not inside "
				"segment %u",
				(unsigned long long)t->bytes,
				(unsigned long long)t->offset, t->segment);
		}
		return MSD_OK;
	case MSD_AT_INLINE:
		if (t->bytes == 0) { /* a frame without payload has no segment either */
			*ret_p = no_bytes;
			return MSD_OK;
		}
		return locate_inline(peer, t, ret_p, d);
	case MSD_AT_OUT:
		break;
	}
	return msd_diag_set(d, MSD_BAD_ARGUMENT, "out tensor where a value is needed");
}
