/*
 * Happy path: an argument is used in place; an argument of wide integers is copied.
 * An output is filled in place, or, if the function returns its outputs, it is the
 * place of the next returned tensor.
 */
#include "daemon/worker/objects/client_memory.h"

#include <stdio.h>
#include <string.h>

#define NARROW_BITS 8u /* pixels and quantised values; indexes are wider */

bool msd_client_memory_is_copied(const struct msd_wire_tensor *t)
{
	return (t->dtype.code == MSD_DT_INT || t->dtype.code == MSD_DT_UINT) &&
	       t->dtype.bits > NARROW_BITS;
}

msd_err msd_client_memory_copy(struct msd_call *call, const struct msd_wire_tensor *t,
			       const uint8_t *p, struct msd_any *ret,
			       struct msd_diag *d)
{
	struct msd_tensor *copy = msd_tensor_new(t->dtype, t->shape, t->ndim);

	if (copy != NULL && t->bytes > 0)
		memcpy(copy->dl.data, p, t->bytes);
	return msd_call_hold(call, copy != NULL ? &copy->obj : NULL, ret, d);
}

msd_err msd_call_add_place(struct msd_call *call, const struct msd_wire_tensor *t,
			   struct msd_diag *d)
{
	struct msd_call_reserve *place = msd_arena_alloc(call->arena, sizeof(*place));
	struct msd_call_reserve **end = &call->places;

	if (place == NULL)
		return msd_diag_no_memory(d);
	place->tensor = *t;
	const msd_err err = msd_client_memory_locate(call->peer, t, &place->p, d);
	if (err != MSD_OK)
		return err;
	place->tensor.where = MSD_AT_SEGMENT;
	place->tensor.device = (struct msd_device){.type = MSD_DEV_CPU};
	while (*end != NULL)
		end = &(*end)->next;
	*end = place;
	call->n_places++;
	return MSD_OK;
}

msd_err msd_call_seat(struct msd_call *call, struct msd_wire_tensor *t, uint8_t **ret_p,
		      struct msd_diag *d)
{
	const struct msd_call_reserve *place = call->places;
	char has[MSD_DTYPE_NAME_MAX], wants[MSD_DTYPE_NAME_MAX];

	if (place == NULL)
		return msd_call_add_slot(call, t, MSD_OUT_FILLED, ret_p, d);
	if (!msd_dtype_eq(place->tensor.dtype, t->dtype) ||
	    place->tensor.ndim != t->ndim || place->tensor.bytes != t->bytes ||
	    memcmp(place->tensor.shape, t->shape, t->ndim * sizeof(*t->shape)) != 0) {
		return msd_diag_set(
			d, MSD_BAD_ARGUMENT,
			"it returns a tensor of %s with %u dimensions and %llu bytes, "
			"but the out tensor has %s with %u and %llu",
			msd_dtype_format(t->dtype, has), t->ndim,
			(unsigned long long)t->bytes,
			msd_dtype_format(place->tensor.dtype, wants),
			place->tensor.ndim, (unsigned long long)place->tensor.bytes);
	}
	if (++call->n_result_tensors > MSD_MAX_TENSORS)
		return msd_diag_set(d, MSD_TOO_LARGE, "too many tensors in one reply");
	call->places = place->next;
	*t = place->tensor;
	*ret_p = place->p;
	return MSD_OK;
}
