/*
 * vm.builtin.alloc_*: a model's memory. Storages come from the VM's pool; tensors are
 * views of them and keep them alive.
 */
#include "runtime/device/memory.h"

#include <inttypes.h>

#include "artifact/provides/packed.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"
#include "runtime/packed/vm_memory.h"
#include "runtime/value/storage_pool.h"

/* (vm, n) -> int64[n] on the host */
static int alloc_shape_heap(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	const struct msd_dtype int64 = {MSD_DT_INT, 64, 1};
	struct msd_args a = {args, n};
	struct msd_vm_memory *vm;
	int64_t cells;
	(void)self;

	if (!msd_args_count(a, 2, 2) || !msd_args_vm(a, 0, &vm) ||
	    !msd_args_int(a, 1, &cells))
		return -1;
	if (cells < 0 || cells > INT32_MAX) {
		return msd_abi_raise("ValueError", "a shape heap of %" PRId64 " cells",
				     cells);
	}
	struct msd_storage *s =
		msd_storage_pool_allocate(vm->pool, (size_t)cells * sizeof(int64_t));
	if (s == NULL)
		return msd_return_obj(NULL, ret);
	struct msd_tensor *t = msd_tensor_view(s->data, s->device, int64, &cells, 1,
					       &s->obj, NULL, NULL);
	msd_obj_unref(&s->obj); /* the tensor holds a reference */
	return msd_return_obj(t != NULL ? &t->obj : NULL, ret);
}

/*
 * Size of @shape in bytes, each element rounded up to whole bytes; false on overflow.
 */
static bool storage_bytes(const struct msd_shape *shape, struct msd_dtype dtype,
			  size_t *ret)
{
	size_t item = ((size_t)dtype.bits * dtype.lanes + 7) / 8;
	uint64_t n;

	return msd_shape_elements(shape->dim, shape->ndim, &n) && n <= SIZE_MAX &&
	       msd_mul_size((size_t)n, item, ret);
}

/* The CPU has only the "global" scope; texture memory and similar are not supported. */
static bool scope_is_plain(struct msd_args a, int32_t i)
{
	struct msd_span scope;

	if (i >= a.n || a.v[i].type == MSD_T_NONE)
		return true;
	if (!msd_any_str(&a.v[i], &scope))
		return msd_args_refuse(a, i, "a memory scope") == 0;
	if (scope.n == 0 || msd_span_is(scope, "global"))
		return true;
	(void)msd_abi_raise_code(MSD_UNSUPPORTED, "no memory of scope \"%.*s\" here",
				 (int)scope.n, (const char *)scope.p);
	return false;
}

static int device_storage(struct msd_dev *dev, size_t bytes, struct msd_any *ret)
{
	struct msd_storage *s = NULL;
	struct msd_diag d = {0};
	msd_err err = msd_dev_storage(dev, bytes, &s, &d);

	if (err == MSD_OK)
		return msd_return_obj(&s->obj, ret);
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

/* (vm, shape, device index, dtype[, scope]) -> storage */
static int alloc_storage(void *self, const struct msd_any *args, int32_t n,
			 struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_vm_memory *vm;
	struct msd_shape *shape;
	struct msd_dtype dtype;
	struct msd_storage *s;
	int64_t device_index; /* 0 is the module's device; the host is last */
	size_t bytes;
	(void)self;

	if (!msd_args_count(a, 4, 5) || !msd_args_vm(a, 0, &vm) ||
	    !msd_args_shape(a, 1, &shape) || !msd_args_int(a, 2, &device_index) ||
	    !msd_args_dtype(a, 3, &dtype) || !scope_is_plain(a, 4))
		return -1;
	if (!storage_bytes(shape, dtype, &bytes))
		return msd_abi_raise("ValueError", "the storage's size is not valid");
	if (vm->dev != NULL && device_index == 0)
		return device_storage(vm->dev, bytes, ret);
	s = msd_storage_pool_allocate(vm->pool, bytes);
	if (s == NULL) {
		return msd_abi_raise_code(MSD_NOMEM, "cannot allocate %zu bytes",
					  bytes);
	}
	return msd_return_obj(&s->obj, ret);
}

/* (storage, offset, shape, dtype[, scope]) -> tensor. The offset is added to the data
 * pointer because compiled code rejects a byte_offset. */
static int alloc_tensor(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct msd_args a = {args, n};
	struct msd_shape *shape;
	struct msd_dtype dtype;
	int64_t offset;
	size_t bytes;
	(void)self;

	if (!msd_args_count(a, 4, 5) || !msd_args_int(a, 1, &offset) ||
	    !msd_args_shape(a, 2, &shape) || !msd_args_dtype(a, 3, &dtype))
		return -1;
	if (args[0].type != MSD_T_STORAGE)
		return msd_args_refuse(a, 0, "storage");
	struct msd_storage *s = (struct msd_storage *)(void *)args[0].as.obj;
	if (shape->ndim > MSD_MAX_NDIM || !msd_shape_bytes(shape, dtype, &bytes))
		return msd_abi_raise("ValueError", "the tensor's shape is not valid");
	if (offset < 0 || (uint64_t)offset > s->bytes ||
	    bytes > s->bytes - (size_t)offset) {
		return msd_abi_raise("ValueError",
				     "a tensor of %zu bytes at offset %" PRId64
				     " does not fit in a storage of %zu bytes",
				     bytes, offset, s->bytes);
	}
	struct msd_tensor *t =
		msd_tensor_view((char *)s->data + offset, s->device, dtype, shape->dim,
				shape->ndim, &s->obj, NULL, NULL);
	return msd_return_obj(t != NULL ? &t->obj : NULL, ret);
}

/* () -> None; the VM itself executes it by clearing a register. */
static int null_value(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	*ret = msd_none();
	return 0;
}

/*
 * () -> None. The pool limits its idle memory (storage_pool.h), so this does nothing.
 */
static int memory_manager_clear(void *self, const struct msd_any *args, int32_t n,
				struct msd_any *ret)
{
	return null_value(self, args, n, ret);
}

const struct msd_global msd_globals_memory[] = MSD_GLOBAL_TABLE(MSD_PACKED_MEMORY);
