#include "daemon/worker/objects/resident_tensors.h"

#include <string.h>

#include "daemon/limits.h"
#include "runtime/device/memory.h"

void msd_resident_tensors_init(struct msd_resident_tensors *r, uint64_t max_bytes)
{
	*r = (struct msd_resident_tensors){.max_bytes = max_bytes};
	msd_handles_init(&r->handles, MSD_MAX_RESIDENTS);
}

void msd_resident_tensors_finish(struct msd_resident_tensors *r)
{
	const struct msd_handle_entry *e;
	uint32_t at = 0;

	while ((e = msd_handles_next(&r->handles, &at)) != NULL)
		msd_obj_unref(&((struct msd_tensor *)e->object)->obj);
	msd_handles_finish(&r->handles);
	*r = (struct msd_resident_tensors){0};
}

static msd_err check_room(const struct msd_resident_tensors *r, struct msd_dtype dtype,
			  const int64_t *shape, size_t ndim, struct msd_diag *d)
{
	uint64_t n;
	uint64_t bytes;

	if (r->handles.n_live == r->handles.max) {
		return msd_diag_set(d, MSD_NO_SPACE,
				    "tensor.alloc: all %u handles are in use",
				    r->handles.max);
	}
	if (!msd_shape_elements(shape, ndim, &n) || !msd_dtype_bytes(dtype, n, &bytes))
		return msd_diag_set(d, MSD_TOO_LARGE, "tensor.alloc: invalid size");
	if (bytes > r->max_bytes - r->live_bytes) {
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"tensor.alloc: %llu bytes do not fit: %llu of %llu in use",
			(unsigned long long)bytes, (unsigned long long)r->live_bytes,
			(unsigned long long)r->max_bytes);
	}
	return MSD_OK;
}

static msd_err zeros_on_host(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			     struct msd_tensor **ret, struct msd_diag *d)
{
	struct msd_tensor *t = msd_tensor_new(dtype, shape, ndim);

	if (t == NULL)
		return msd_diag_no_memory(d);
	size_t bytes = msd_dltensor_bytes(&t->dl);
	if (bytes > 0) /* the heap's old contents belong to other clients */
		memset(t->dl.data, 0, bytes);
	*ret = t;
	return MSD_OK;
}

/* The tensor's memory keeps the device open. */
static msd_err zeros_on(struct msd_device device, struct msd_dtype dtype,
			const int64_t *shape, size_t ndim, struct msd_tensor **ret,
			struct msd_diag *d)
{
	struct msd_tensor *t = NULL;
	struct msd_dev *dev;

	if (device.type == MSD_DEV_CPU)
		return zeros_on_host(dtype, shape, ndim, ret, d);
	msd_err err = msd_dev_open(device, &dev, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "tensor.alloc");
	err = msd_dev_tensor(dev, dtype, shape, ndim, &t, d);
	if (err == MSD_OK && msd_dltensor_bytes(&t->dl) > 0)
		err = dev->ops->fill(dev, t->dl.data, 0, msd_dltensor_bytes(&t->dl), d);
	msd_dev_close(dev);
	if (err != MSD_OK) {
		if (t != NULL)
			msd_obj_unref(&t->obj);
		return msd_diag_wrap(d, err, "tensor.alloc");
	}
	*ret = t;
	return MSD_OK;
}

msd_err msd_resident_tensors_alloc(struct msd_resident_tensors *r,
				   struct msd_device device, struct msd_dtype dtype,
				   const int64_t *shape, size_t ndim,
				   struct msd_handle *ret_handle,
				   struct msd_tensor **ret, struct msd_diag *d)
{
	struct msd_tensor *t = NULL;
	msd_err err = check_room(r, dtype, shape, ndim, d);

	if (err == MSD_OK)
		err = zeros_on(device, dtype, shape, ndim, &t, d);
	if (err != MSD_OK)
		return err;
	err = msd_handles_add(&r->handles, MSD_K_TENSOR, t, ret_handle, d);
	if (err != MSD_OK) {
		msd_obj_unref(&t->obj);
		return msd_diag_wrap(d, err, "tensor.alloc");
	}
	r->live_bytes += msd_dltensor_bytes(&t->dl);
	*ret = t;
	return MSD_OK;
}

struct msd_tensor *msd_resident_tensors_peek(const struct msd_resident_tensors *r,
					     struct msd_handle h)
{
	return msd_handles_peek(&r->handles, MSD_K_TENSOR, h);
}

bool msd_resident_tensors_free(struct msd_resident_tensors *r, struct msd_handle h)
{
	struct msd_tensor *t = msd_resident_tensors_peek(r, h);

	if (t == NULL)
		return false;
	r->live_bytes -= msd_dltensor_bytes(&t->dl);
	msd_handles_remove(&r->handles, h);
	msd_obj_unref(&t->obj);
	return true;
}
