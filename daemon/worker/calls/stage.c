#include "daemon/worker/calls/stage.h"

#include <stdio.h>

#include "runtime/device/memory.h"

#define DEVICE_TEXT_MAX (MSD_DTYPE_NAME_MAX + 16)

static const char *device_text(struct msd_device device,
			       char out[static DEVICE_TEXT_MAX])
{
	char name[MSD_DTYPE_NAME_MAX];

	(void)snprintf(out, DEVICE_TEXT_MAX, "%s:%d",
		       msd_device_type_format(device.type, name), device.id);
	return out;
}

/* Only one device at a time has queued work of the call. */
static msd_err use(struct msd_call *call, struct msd_dev *dev, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	if (call->queued != NULL && call->queued != dev)
		err = msd_stage_wait(call, d);
	call->queued = dev;
	return err;
}

msd_err msd_stage_in(struct msd_call *call, const struct msd_wire_tensor *t,
		     struct msd_dev *dev, const uint8_t *src, struct msd_tensor **ret,
		     struct msd_diag *d)
{
	struct msd_tensor *there = NULL;
	msd_err err = use(call, dev, d);

	if (err == MSD_OK)
		err = msd_dev_tensor(dev, t->dtype, t->shape, t->ndim, &there, d);
	if (err != MSD_OK)
		return err;
	/* Fill with zeros: bytes of an earlier owner must not leak through parts that
	 * the callee does not write. */
	if (src != NULL) {
		err = msd_dev_copy(dev, there->dl.data, NULL, src, t->bytes, d);
	} else if (t->bytes > 0) {
		err = dev->ops->fill(dev, there->dl.data, 0, t->bytes, d);
	}
	if (err != MSD_OK) {
		msd_obj_unref(&there->obj);
		return err;
	}
	*ret = there;
	return MSD_OK;
}

msd_err msd_stage_back(struct msd_call *call, const struct msd_dltensor *t,
		       uint8_t *dst, size_t n, struct msd_diag *d)
{
	struct msd_dev *dev;
	msd_err err = msd_loaded_reach(call->module, t->device, &dev, d);

	if (err == MSD_OK)
		err = use(call, dev, d);
	if (err == MSD_OK) {
		err = msd_dev_copy(NULL, dst, dev, (char *)t->data + t->byte_offset, n,
				   d);
	}
	return err;
}

msd_err msd_stage_outs(struct msd_call *call, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (struct msd_call_out *o = call->outs; err == MSD_OK && o != NULL;
	     o = o->next) {
		if (o->there != NULL) {
			err = msd_stage_back(call, &o->there->dl, o->slot,
					     o->tensor.bytes, d);
		}
	}
	return err;
}

msd_err msd_stage_wait(struct msd_call *call, struct msd_diag *d)
{
	struct msd_dev *dev = call->queued;

	call->queued = NULL;
	return dev != NULL ? msd_dev_sync(dev, d) : MSD_OK;
}

/* Return the first tensor in @v; NULL: none. */
static const struct msd_dltensor *first_tensor(const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (t != NULL || v->type != MSD_T_ARRAY)
		return t;
	const struct msd_array *a = v->as.p;
	for (int64_t i = 0; t == NULL && i < a->size; i++)
		t = first_tensor(&a->items[i]);
	return t;
}

msd_err msd_stage_check(struct msd_call *call, struct msd_diag *d)
{
	char one[DEVICE_TEXT_MAX];
	char other[DEVICE_TEXT_MAX];
	const struct msd_dltensor *first = NULL;
	uint32_t first_arg = 0;

	for (uint32_t i = 0; i < call->n_args; i++) {
		const struct msd_dltensor *t = first_tensor(&call->args[i]);
		if (t == NULL)
			continue;
		if (first == NULL) {
			first = t;
			first_arg = i;
		}
		if (t->device.type != first->device.type ||
		    t->device.id != first->device.id) {
			return msd_diag_set(
				d, MSD_BAD_ARGUMENT,
				"argument %u is on %s and argument %u on %s: the "
				"tensors of a call must be on one device "
				"(tensor.copy moves them)",
				first_arg, device_text(first->device, one), i,
				device_text(t->device, other));
		}
	}
	if (first == NULL || first->device.type == MSD_DEV_CPU)
		return MSD_OK;
	/* Kernels run on the tensors' device, and the reply waits for it. */
	struct msd_dev *dev;
	msd_err err = msd_loaded_reach(call->module, first->device, &dev, d);
	return err == MSD_OK ? use(call, dev, d) : err;
}
