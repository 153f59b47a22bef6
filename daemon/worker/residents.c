#include "daemon/worker/residents.h"

#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"

#define MAX_RESIDENTS 65536u

struct resident {
	struct msd_tensor *tensor; /* owned; NULL: free */
	uint32_t generation;       /* of the tensor, or of the one before */
};

void msd_residents_init(struct msd_residents *r, uint64_t max_bytes)
{
	*r = (struct msd_residents){.max_bytes = max_bytes};
}

void msd_residents_finish(struct msd_residents *r)
{
	for (uint32_t i = 0; i < r->n_slots; i++)
		if (r->slots[i].tensor != NULL)
			msd_obj_unref(&r->slots[i].tensor->obj);
	free(r->slots);
	*r = (struct msd_residents){0};
}

static msd_err find_free(struct msd_residents *r, uint32_t *ret, struct msd_diag *d)
{
	if (r->n_live < r->n_slots) {
		for (uint32_t i = 0; i < r->n_slots; i++) {
			if (r->slots[i].tensor == NULL) {
				*ret = i;
				return MSD_OK;
			}
		}
	}
	if (r->n_slots >= MAX_RESIDENTS)
		return msd_diag_set(d, MSD_NO_SPACE,
				    "tensor.alloc: all %u handles are in use",
				    MAX_RESIDENTS);
	uint32_t n = r->n_slots > 0 ? 2 * r->n_slots : 16;
	struct resident *more = realloc(r->slots, n * sizeof(*more));
	if (more == NULL)
		return msd_diag_set(d, MSD_NOMEM, "tensor.alloc: out of memory");
	memset(more + r->n_slots, 0, (n - r->n_slots) * sizeof(*more));
	*ret = r->n_slots;
	r->slots = more;
	r->n_slots = n;
	return MSD_OK;
}

static msd_err check_size(const struct msd_residents *r, struct msd_dtype dtype,
			  const int64_t *shape, size_t ndim, struct msd_diag *d)
{
	uint64_t n;
	uint64_t bytes;

	if (!msd_shape_elements(shape, ndim, &n) || !msd_dtype_bytes(dtype, n, &bytes))
		return msd_diag_set(d, MSD_TOO_LARGE, "tensor.alloc: no such size");
	if (bytes > r->max_bytes - r->live_bytes)
		return msd_diag_set(
			d, MSD_NO_SPACE,
			"tensor.alloc: %llu bytes do not fit: %llu of %llu in use",
			(unsigned long long)bytes, (unsigned long long)r->live_bytes,
			(unsigned long long)r->max_bytes);
	return MSD_OK;
}

static msd_err zeros_on_host(struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			     struct msd_tensor **ret, struct msd_diag *d)
{
	struct msd_tensor *t = msd_tensor_new(dtype, shape, ndim);

	if (t == NULL)
		return msd_diag_set(d, MSD_NOMEM, "tensor.alloc: out of memory");
	size_t bytes = msd_dltensor_bytes(&t->dl);
	if (bytes > 0) /* the heap's old contents are other clients' */
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

msd_err msd_residents_alloc(struct msd_residents *r, struct msd_device device,
			    struct msd_dtype dtype, const int64_t *shape, size_t ndim,
			    struct msd_handle *ret_handle, struct msd_tensor **ret,
			    struct msd_diag *d)
{
	uint32_t i = 0;
	msd_err err = check_size(r, dtype, shape, ndim, d);

	if (err == MSD_OK)
		err = find_free(r, &i, d);
	if (err != MSD_OK)
		return err;
	struct msd_tensor *t = NULL;
	err = zeros_on(device, dtype, shape, ndim, &t, d);
	if (err != MSD_OK)
		return err;
	size_t bytes = msd_dltensor_bytes(&t->dl);
	r->slots[i].tensor = t;
	if (++r->slots[i].generation == 0)
		r->slots[i].generation = 1; /* 0 is never valid */
	r->n_live++;
	r->live_bytes += bytes;
	*ret_handle =
		(struct msd_handle){.slot = i, .generation = r->slots[i].generation};
	*ret = t;
	return MSD_OK;
}

struct msd_tensor *msd_residents_peek(const struct msd_residents *r,
				      struct msd_handle h)
{
	if (h.slot >= r->n_slots || r->slots[h.slot].generation != h.generation)
		return NULL;
	return r->slots[h.slot].tensor;
}

bool msd_residents_free(struct msd_residents *r, struct msd_handle h)
{
	struct msd_tensor *t = msd_residents_peek(r, h);

	if (t == NULL)
		return false;
	r->live_bytes -= msd_dltensor_bytes(&t->dl);
	r->n_live--;
	r->slots[h.slot].tensor = NULL;
	msd_obj_unref(&t->obj);
	return true;
}
