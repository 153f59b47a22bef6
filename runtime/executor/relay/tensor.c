/* Tensors: read on the host from any device, and copied between devices. */

#include "runtime/device/memory.h"
#include "runtime/executor/relay/vm.h"
#include "runtime/value/element.h"
#include "runtime/value/error.h"

static int raise_diag(msd_err err, struct msd_diag *d)
{
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(d));
	msd_diag_finish(d);
	return -1;
}

static struct msd_dev *dev_of(const struct msd_dltensor *t)
{
	return t->device.type != MSD_DEV_CPU ? msd_dev_peek(t->device) : NULL;
}

size_t msd_relay_elements(const struct msd_dltensor *t)
{
	uint64_t n;

	return msd_shape_elements(t->shape, (size_t)t->ndim, &n) ? (size_t)n : 0;
}

/* The first @n elements of @t on the host: its own bytes, or a copy in @room. */
static const uint8_t *fetch(const struct msd_dltensor *t, size_t n,
			    uint64_t room[MSD_MAX_NDIM])
{
	const size_t bytes = n * ((t->dtype.bits + 7u) / 8u) * t->dtype.lanes;
	const char *data = (const char *)t->data + t->byte_offset;
	struct msd_dev *dev = dev_of(t);
	struct msd_diag d = {0};

	if (dev == NULL || bytes == 0)
		return (const uint8_t *)data;
	if (bytes > MSD_MAX_NDIM * sizeof(room[0])) {
		(void)msd_abi_raise("TypeError", "expected integers");
		return NULL;
	}
	msd_err err = msd_dev_copy(NULL, room, dev, data, bytes, &d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	if (err == MSD_OK)
		return (const uint8_t *)room;
	(void)raise_diag(err, &d);
	return NULL;
}

static const struct msd_dltensor *tensor_of(const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	if (t == NULL) {
		(void)msd_abi_raise("TypeError", "expected a tensor, got %s",
				    msd_type_name(v->type));
	}
	return t;
}

int msd_relay_scalar(const struct msd_any *v, int64_t *ret)
{
	const struct msd_dltensor *t = tensor_of(v);
	uint64_t room[MSD_MAX_NDIM];

	if (t == NULL)
		return -1;
	const uint8_t *p = msd_relay_elements(t) > 0 ? fetch(t, 1, room) : NULL;
	if (msd_relay_elements(t) > 0 && p == NULL)
		return -1;
	if (p == NULL || !msd_number_int(t->dtype, p, 0, ret))
		return msd_abi_raise("TypeError", "expected a tensor with one integer");
	return 0;
}

int msd_relay_shape(const struct msd_any *v, int64_t dims[MSD_MAX_NDIM],
		    size_t *ret_ndim)
{
	const struct msd_dltensor *t = tensor_of(v);
	uint64_t room[MSD_MAX_NDIM];

	if (t == NULL)
		return -1;
	const size_t n = t->ndim == 0 ? 0 : msd_relay_elements(t);
	if (t->ndim > 1 || n > MSD_MAX_NDIM) {
		return msd_abi_raise("ValueError",
				     "expected a shape of at most %d "
				     "extents",
				     MSD_MAX_NDIM);
	}
	const uint8_t *p = fetch(t, n, room);
	if (n > 0 && p == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (!msd_number_int(t->dtype, p, (int64_t)i, &dims[i]) || dims[i] < 0) {
			return msd_abi_raise("ValueError",
					     "extent %zu of a shape is no number", i);
		}
	}
	*ret_ndim = n;
	return 0;
}

/* A tensor like @t with its own memory on @to; NULL is the host. */
static msd_err tensor_like(const struct msd_dltensor *t, struct msd_dev *to,
			   struct msd_tensor **ret, struct msd_diag *d)
{
	if (to != NULL)
		return msd_dev_tensor(to, t->dtype, t->shape, (size_t)t->ndim, ret, d);
	*ret = msd_tensor_new(t->dtype, t->shape, (size_t)t->ndim);
	return *ret != NULL ? MSD_OK : msd_diag_no_memory(d);
}

int msd_relay_copy(const struct msd_relay_vm *vm, const struct msd_dltensor *t,
		   int32_t type, struct msd_any *ret)
{
	struct msd_dev *to = msd_relay_dev(vm, type);
	struct msd_dev *from = dev_of(t);
	struct msd_tensor *copy = NULL;
	struct msd_diag d = {0};
	msd_err err = tensor_like(t, to, &copy, &d);

	if (err != MSD_OK)
		return raise_diag(err, &d);
	err = msd_dev_copy(to, copy->dl.data, from,
			   (const char *)t->data + t->byte_offset,
			   msd_dltensor_bytes(t), &d);
	/* Wait: afterwards the host may free or read both sides at once. */
	if (err == MSD_OK && to != from)
		err = msd_dev_sync(to != NULL ? to : from, &d);
	if (err != MSD_OK) {
		msd_obj_unref(&copy->obj);
		return raise_diag(err, &d);
	}
	*ret = msd_of_obj(&copy->obj);
	return 0;
}
