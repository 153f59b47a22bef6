/* vm.builtin.* on tensors: views, copies, and reads of values for control flow and
 * shapes. */
#include <inttypes.h>
#include <string.h>

#include "artifact/provides/packed.h"
#include "runtime/device/memory.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/value/element.h"

/* An open device; NULL is the host. False, with the error raised, if @device is
 * neither. */
static bool device_find(struct msd_device device, struct msd_dev **ret)
{
	char name[MSD_DTYPE_NAME_MAX];

	*ret = NULL;
	if ((device.type == MSD_DEV_CPU && device.id == 0) ||
	    device.type == MSD_DEV_CUDA_HOST)
		return true;
	*ret = msd_dev_peek(device);
	if (*ret == NULL) {
		(void)msd_abi_raise_code(
			MSD_UNSUPPORTED,
			"device %s:%d: this module was not placed there",
			msd_device_type_format(device.type, name), device.id);
	}
	return *ret != NULL;
}

/* Copy and wait for completion, because the host memory may be freed afterwards. */
static msd_err copy_now(struct msd_dev *to, void *dst, struct msd_dev *from,
			const void *src, size_t n, struct msd_diag *d)
{
	msd_err err = msd_dev_copy(to, dst, from, src, n, d);

	if (err == MSD_OK && from != NULL)
		err = msd_dev_sync(from, d);
	if (err == MSD_OK && to != NULL)
		err = msd_dev_sync(to, d);
	return err;
}

static msd_err tensor_copy_to(struct msd_dev *to, struct msd_dev *from,
			      const struct msd_dltensor *t, struct msd_tensor **ret,
			      struct msd_diag *d)
{
	const size_t ndim = (size_t)t->ndim;
	msd_err err = MSD_OK;

	if (to != NULL) {
		err = msd_dev_tensor(to, t->dtype, t->shape, ndim, ret, d);
	} else {
		*ret = msd_tensor_new(t->dtype, t->shape, ndim);
	}
	if (err != MSD_OK || *ret == NULL)
		return err != MSD_OK ? err : msd_diag_no_memory(d);
	err = copy_now(to, (*ret)->dl.data, from, msd_dltensor_at(t),
		       msd_dltensor_bytes(t), d);
	if (err != MSD_OK)
		msd_obj_unref(&(*ret)->obj);
	return err;
}

/* Return a copy of a compact tensor on @device. */
static int return_clone(const struct msd_dltensor *t, struct msd_device device,
			struct msd_any *ret)
{
	struct msd_dev *from;
	struct msd_dev *to;
	struct msd_tensor *copy;
	struct msd_diag d = {0};

	if (!device_find(t->device, &from) || !device_find(device, &to))
		return -1;
	msd_err err = tensor_copy_to(to, from, t, &copy, &d);
	if (err == MSD_OK)
		return msd_return_obj(&copy->obj, ret);
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

/* A small tensor with elements that the host can read, wherever it is stored. */
struct readable {
	struct msd_dltensor dl;
	uint8_t bytes[MSD_MAX_NDIM * sizeof(int64_t)];
};

static bool readable_tensor(struct msd_args a, int32_t i, struct readable *ret)
{
	struct msd_dltensor *t;
	struct msd_dev *dev;
	struct msd_diag d = {0};

	if (!msd_args_tensor(a, i, &t) || !device_find(t->device, &dev))
		return false;
	ret->dl = *t;
	if (dev == NULL)
		return true;
	size_t n = msd_dltensor_bytes(t);
	n = n < sizeof(ret->bytes) ? n : sizeof(ret->bytes);
	msd_err err = copy_now(NULL, ret->bytes, dev, msd_dltensor_at(t), n, &d);
	ret->dl.data = ret->bytes;
	ret->dl.byte_offset = 0;
	if (err != MSD_OK)
		(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return err == MSD_OK;
}

/* (tensor, shape) -> a view of the same memory */
static int reshape(void *self, const struct msd_any *args, int32_t n,
		   struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	struct msd_shape *shape;
	size_t bytes;
	(void)self;

	if (!msd_args_count(a, 2, 2) || !msd_args_compact_tensor(a, 0, &t) ||
	    !msd_args_shape(a, 1, &shape))
		return -1;
	if (shape->ndim > MSD_MAX_NDIM || !msd_shape_bytes(shape, t->dtype, &bytes))
		return msd_abi_raise("ValueError", "the new shape is not valid");
	size_t have = msd_dltensor_bytes(t);
	if (bytes > have) {
		return msd_abi_raise(
			"ValueError",
			"the new shape takes %zu bytes, the tensor has %zu", bytes,
			have);
	}
	if (args[0].type !=
	    MSD_T_TENSOR) /* borrowed for the call: a view would dangle */
		return msd_args_refuse(a, 0, "a tensor object");
	struct msd_tensor *view =
		msd_tensor_view(msd_dltensor_at(t), t->device, t->dtype, shape->dim,
				shape->ndim, args[0].as.obj, NULL, NULL);
	return msd_return_obj(view != NULL ? &view->obj : NULL, ret);
}

/* (tensor, shape, dtype, byte offset) -> a view of part of the same memory. It keeps
 * a byte offset, which compiled code removes with ensure_zero_offset. */
static int create_view(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	struct msd_shape *shape;
	struct msd_dtype dtype;
	int64_t offset;
	size_t bytes;
	(void)self;

	if (!msd_args_count(a, 4, 4) || !msd_args_compact_tensor(a, 0, &t) ||
	    !msd_args_shape(a, 1, &shape) || !msd_args_dtype(a, 2, &dtype) ||
	    !msd_args_int(a, 3, &offset))
		return -1;
	if (args[0].type != MSD_T_TENSOR)
		return msd_args_refuse(a, 0, "a tensor object");
	if (shape->ndim > MSD_MAX_NDIM || !msd_shape_bytes(shape, dtype, &bytes)) {
		return msd_abi_raise("ValueError",
				     "the shape of the view is not valid");
	}
	const size_t have = msd_dltensor_bytes(t);
	if (offset < 0 || (uint64_t)offset > have || bytes > have - (size_t)offset) {
		return msd_abi_raise("ValueError",
				     "a view of %zu bytes from byte %" PRId64
				     " on: the tensor has %zu",
				     bytes, offset, have);
	}
	struct msd_tensor *view =
		msd_tensor_view(t->data, t->device, dtype, shape->dim, shape->ndim,
				args[0].as.obj, NULL, NULL);
	if (view == NULL)
		return msd_return_obj(NULL, ret);
	view->dl.byte_offset = t->byte_offset + (uint64_t)offset;
	return msd_return_obj(&view->obj, ret);
}

/* (tensor) -> shape */
static int shape_of(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	(void)self;

	if (!msd_args_count(a, 1, 1) || !msd_args_tensor(a, 0, &t))
		return -1;
	struct msd_shape *s = msd_shape_new(t->shape, (size_t)t->ndim);
	return msd_return_obj(s != NULL ? &s->obj : NULL, ret);
}

/* (x) -> x itself: the compiler means a copy of the reference */
static int copy(void *self, const struct msd_any *args, int32_t n, struct msd_any *ret)
{
	struct msd_args a = {args, n};
	(void)self;

	return msd_args_count(a, 1, 1) ? msd_return_copy(&args[0], ret) : -1;
}

static int refuse_dtype(const struct msd_dltensor *t)
{
	char name[MSD_DTYPE_NAME_MAX];

	return msd_abi_raise("TypeError",
			     "expected a tensor of integers or bools but got %s",
			     msd_dtype_format(t->dtype, name));
}

/* (int64 tensor of one dimension) -> shape */
static int tensor_to_shape(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	int64_t dim[MSD_MAX_NDIM];
	struct msd_args a = {args, n};
	struct readable readable;
	const struct msd_dltensor *t = &readable.dl;
	(void)self;

	if (!msd_args_count(a, 1, 1) || !readable_tensor(a, 0, &readable))
		return -1;
	if (t->ndim != 1 || t->shape[0] < 0 || t->shape[0] > MSD_MAX_NDIM ||
	    !msd_dltensor_is_compact(t)) {
		return msd_abi_raise("ValueError",
				     "expected one dimension of at most %d elements",
				     MSD_MAX_NDIM);
	}
	for (int64_t i = 0; i < t->shape[0]; i++) {
		if (!msd_number_int(t->dtype, msd_dltensor_at(t), i, &dim[i]))
			return refuse_dtype(t);
	}
	struct msd_shape *s = msd_shape_new(dim, (size_t)t->shape[0]);
	return msd_return_obj(s != NULL ? &s->obj : NULL, ret);
}

/* (shape) -> int64 tensor of one dimension */
static int shape_to_tensor(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};
	struct msd_args a = {args, n};
	struct msd_shape *shape;
	(void)self;

	if (!msd_args_count(a, 1, 1) || !msd_args_shape(a, 0, &shape))
		return -1;
	const int64_t ndim = (int64_t)shape->ndim;
	struct msd_tensor *t = msd_tensor_new(int64, &ndim, 1);
	if (t != NULL && ndim > 0)
		memcpy(t->dl.data, shape->dim, shape->ndim * sizeof(*shape->dim));
	return msd_return_obj(t != NULL ? &t->obj : NULL, ret);
}

/* (bool, int, or tensor with one element) -> bool */
static int read_if_cond(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct readable readable;
	const struct msd_dltensor *t = &readable.dl;
	int64_t v;
	(void)self;

	if (!msd_args_count(a, 1, 1))
		return -1;
	if (args[0].type == MSD_T_BOOL || args[0].type == MSD_T_INT) {
		*ret = msd_bool(args[0].as.i != 0);
		return 0;
	}
	if (!readable_tensor(a, 0, &readable))
		return -1;
	if (msd_dltensor_bytes(t) == 0)
		return msd_abi_raise("ValueError", "the condition has no elements");
	if (!msd_number_int(t->dtype, msd_dltensor_at(t), 0, &v))
		return refuse_dtype(t);
	*ret = msd_bool(v != 0);
	return 0;
}

/* (tensor, device type, device id[, scope]) -> tensor on that device */
static int to_device(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	int64_t type;
	int64_t id;
	(void)self;

	if (!msd_args_count(a, 3, 4) || !msd_args_compact_tensor(a, 0, &t) ||
	    !msd_args_int(a, 1, &type) || !msd_args_int(a, 2, &id))
		return -1;
	return return_clone(t, (struct msd_device){(int32_t)type, (int32_t)id}, ret);
}

/* (tensor) -> the same with byte_offset 0, which compiled code requires */
static int ensure_zero_offset(void *self, const struct msd_any *args, int32_t n,
			      struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_dltensor *t;
	(void)self;

	if (!msd_args_count(a, 1, 1) || !msd_args_tensor(a, 0, &t))
		return -1;
	if (t->byte_offset == 0)
		return msd_return_copy(&args[0], ret);
	return msd_args_compact_tensor(a, 0, &t) ? return_clone(t, t->device, ret) : -1;
}

const struct msd_global msd_globals_tensor[] = MSD_GLOBAL_TABLE(MSD_PACKED_TENSOR);
