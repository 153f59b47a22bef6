/*
 * Tensors for code built with tvm-ffi's headers.
 *
 * Happy path: the runtime allocates host memory, or asks the open device. A library may
 * set an allocator, whose tensors are taken over. DLPack tensors and views share memory
 * with the tensor that they come from, and hold a reference to it. Failures: sizes that
 * cannot exist, closed devices, unsupported versions of DLPack.
 */
#include "runtime/abi/tensors.h"

#include <inttypes.h>
#include <stdlib.h>

#include "runtime/device/device.h"
#include "runtime/device/memory.h"
#include "runtime/value/error.h"

#define DLPACK_MAJOR 1u
#define DLPACK_MINOR 1u
enum { SUB_BYTE_IS_PADDED = 1 << 2 };

static _Thread_local msd_dlpack_alloc own_allocator;
static msd_dlpack_alloc global_allocator;

static int give(struct msd_tensor *t, void **ret)
{
	*ret = t;
	return t != NULL ? 0 : msd_abi_no_memory();
}

/* A tensor of the worker's memory, which the sandbox limits. */
static int alloc_host(const struct msd_dltensor *p, struct msd_tensor **ret)
{
	struct msd_tensor *t = msd_tensor_new(p->dtype, p->shape, (size_t)p->ndim);

	if (t == NULL)
		return msd_abi_no_memory();
	*ret = msd_tensor_strided(&t->dl, &t->obj, NULL, NULL);
	msd_obj_unref(&t->obj);
	return *ret != NULL ? 0 : msd_abi_no_memory();
}

static int alloc_device(const struct msd_dltensor *p, struct msd_tensor **ret)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_dev *dev = msd_dev_peek(p->device);
	struct msd_tensor *t = NULL;
	struct msd_diag d = {0};

	if (dev == NULL) {
		return msd_abi_raise("RuntimeError",
				     "TVMFFIEnvTensorAlloc: device %s:%d is not open",
				     msd_device_type_format(p->device.type, name),
				     p->device.id);
	}
	const msd_err err =
		msd_dev_tensor(dev, p->dtype, p->shape, (size_t)p->ndim, &t, &d);
	if (err != MSD_OK) {
		(void)msd_abi_raise_code(err, "TVMFFIEnvTensorAlloc: %s",
					 msd_diag_text(&d));
		msd_diag_finish(&d);
		return -1;
	}
	*ret = msd_tensor_strided(&t->dl, &t->obj, NULL, NULL);
	msd_obj_unref(&t->obj);
	return *ret != NULL ? 0 : msd_abi_no_memory();
}

static int check_prototype(const struct msd_dltensor *p)
{
	uint64_t elements;
	uint64_t bytes;

	if (p->ndim < 0 || p->ndim > MSD_MAX_NDIM) {
		return msd_abi_raise("ValueError",
				     "a tensor of %d dimensions: at most %d",
				     (int)p->ndim, MSD_MAX_NDIM);
	}
	for (int32_t i = 0; i < p->ndim; i++) {
		if (p->shape[i] < 0) {
			return msd_abi_raise("ValueError",
					     "a tensor with the extent %" PRId64,
					     p->shape[i]);
		}
	}
	if (!msd_shape_elements(p->shape, (size_t)p->ndim, &elements) ||
	    !msd_dtype_bytes(p->dtype, elements, &bytes)) {
		return msd_abi_raise("ValueError",
				     "a tensor of more bytes than can be addressed");
	}
	return 0;
}

static int alloc_own(const struct msd_dltensor *p, struct msd_tensor **ret)
{
	if (check_prototype(p) != 0)
		return -1;
	return p->device.type == MSD_DEV_CPU ? alloc_host(p, ret)
					     : alloc_device(p, ret);
}

/* The runtime's allocator, as libraries may call it. */
static int alloc_dlpack(const struct msd_dltensor *prototype, struct msd_dlpack **ret,
			void *ctx,
			void (*fail)(void *ctx, const char *kind, const char *message))
{
	struct msd_tensor *t = NULL;
	struct msd_diag d = {0};
	int rc = alloc_own(prototype, &t);

	if (rc == 0 && t != NULL) {
		rc = msd_tensors_to(t, ret);
		msd_obj_unref(&t->obj);
	}
	if (rc != 0 && fail != NULL) {
		(void)msd_abi_fetch_error(&d);
		fail(ctx, "RuntimeError", msd_diag_text(&d));
		msd_diag_finish(&d);
	}
	return rc;
}

void msd_tensors_set_allocator(msd_dlpack_alloc alloc, bool is_global,
			       msd_dlpack_alloc *ret_before)
{
	if (ret_before != NULL)
		*ret_before = msd_tensors_allocator();
	if (is_global)
		__atomic_store_n(&global_allocator, alloc, __ATOMIC_RELEASE);
	own_allocator = alloc;
}

msd_dlpack_alloc msd_tensors_allocator(void)
{
	msd_dlpack_alloc alloc = own_allocator;

	if (alloc == NULL)
		alloc = __atomic_load_n(&global_allocator, __ATOMIC_ACQUIRE);
	return alloc != NULL ? alloc : alloc_dlpack;
}

static void raise(void *ctx, const char *kind, const char *message)
{
	(void)ctx;
	(void)msd_abi_raise_bytes(kind, msd_span_of(message));
}

int msd_tensors_alloc(const struct msd_dltensor *prototype, void **ret)
{
	const msd_dlpack_alloc alloc = msd_tensors_allocator();
	struct msd_dlpack *made = NULL;
	struct msd_tensor *t = NULL;

	if (alloc == alloc_dlpack)
		return alloc_own(prototype, &t) == 0 ? give(t, ret) : -1;
	if (alloc(prototype, &made, NULL, raise) != 0)
		return -1;
	if (made == NULL) {
		return msd_abi_raise("RuntimeError",
				     "TVMFFIEnvTensorAlloc: the allocator gave none");
	}
	if (msd_tensors_from(made, 0, false, ret) == 0)
		return 0;
	if (made->deleter != NULL)
		made->deleter(made);
	return -1;
}

static int check(const struct msd_dltensor *t, int32_t align, bool must_be_compact)
{
	if (t->ndim < 0 || t->ndim > MSD_MAX_NDIM) {
		return msd_abi_raise("ValueError",
				     "FromDLPack: %d dimensions: at most %d",
				     (int)t->ndim, MSD_MAX_NDIM);
	}
	if (align > 0 && ((uintptr_t)t->data + t->byte_offset) % (uint32_t)align != 0) {
		return msd_abi_raise("RuntimeError",
				     "FromDLPack: Data is not aligned to %d bytes.",
				     (int)align);
	}
	if (must_be_compact && !msd_dltensor_is_compact(t)) {
		return msd_abi_raise("RuntimeError",
				     "FromDLPack: Tensor is not contiguous.");
	}
	return 0;
}

static void release_old(void *ctx, void *data)
{
	struct msd_dlpack_old *from = ctx;

	(void)data;
	if (from->deleter != NULL)
		from->deleter(from);
}

int msd_tensors_from_old(struct msd_dlpack_old *from, int32_t align,
			 bool must_be_compact, void **ret)
{
	if (check(&from->tensor, align, must_be_compact) != 0)
		return -1;
	return give(msd_tensor_strided(&from->tensor, NULL, release_old, from), ret);
}

static void release_new(void *ctx, void *data)
{
	struct msd_dlpack *from = ctx;

	(void)data;
	if (from->deleter != NULL)
		from->deleter(from);
}

int msd_tensors_from(struct msd_dlpack *from, int32_t align, bool must_be_compact,
		     void **ret)
{
	if (from->major != DLPACK_MAJOR) {
		return msd_abi_raise("RuntimeError",
				     "FromDLPack: version %" PRIu32 ".%" PRIu32
				     " of DLPack is not supported",
				     from->major, from->minor);
	}
	if (check(&from->tensor, align, must_be_compact) != 0)
		return -1;
	if ((from->flags & SUB_BYTE_IS_PADDED) != 0) {
		return msd_abi_raise("RuntimeError",
				     "Subbyte type padded is not yet supported");
	}
	return give(msd_tensor_strided(&from->tensor, NULL, release_new, from), ret);
}

static void delete_old(struct msd_dlpack_old *self)
{
	msd_obj_unref(self->ctx);
	free(self);
}

/* Others will have the address of @t's memory. Move an input now, for it cannot be
 * moved after the call. */
static bool fix(struct msd_obj *t)
{
	return msd_tensor_keep(t, true);
}

/* A library's tensor has the same header and DLTensor, and other fields after them. */
int msd_tensors_to_old(void *tensor, struct msd_dlpack_old **ret)
{
	struct msd_tensor *t = tensor;
	struct msd_dlpack_old *made = fix(&t->obj) ? malloc(sizeof(*made)) : NULL;

	if (made == NULL)
		return msd_abi_no_memory();
	*made = (struct msd_dlpack_old){
		.tensor = t->dl, .ctx = t, .deleter = delete_old};
	msd_obj_ref(&t->obj);
	*ret = made;
	return 0;
}

static void delete_new(struct msd_dlpack *self)
{
	msd_obj_unref(self->ctx);
	free(self);
}

int msd_tensors_to(void *tensor, struct msd_dlpack **ret)
{
	struct msd_tensor *t = tensor;
	struct msd_dlpack *made = fix(&t->obj) ? malloc(sizeof(*made)) : NULL;

	if (made == NULL)
		return msd_abi_no_memory();
	*made = (struct msd_dlpack){.major = DLPACK_MAJOR,
				    .minor = DLPACK_MINOR,
				    .tensor = t->dl,
				    .ctx = t,
				    .deleter = delete_new};
	msd_obj_ref(&t->obj);
	*ret = made;
	return 0;
}

int msd_tensors_view(void *source, const struct msd_dltensor *t, void **ret)
{
	const struct msd_tensor *from = source;
	const char *before = from->dl.data;
	struct msd_dltensor view = *t;

	if (check(t, 0, false) != 0)
		return -1;
	if (!fix(source))
		return msd_abi_no_memory();
	if (from->dl.data != before) /* @t has an address in the memory of before */
		view.data = (char *)from->dl.data + ((const char *)t->data - before);
	return give(msd_tensor_strided(&view, source, NULL, NULL), ret);
}
