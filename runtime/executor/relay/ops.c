/*
 * The instructions of the Relay VM, except those that change the function (run.c).
 * Each reads its fields and the frame's registers and stores one value.
 *
 * Register numbers were checked when the image was read. The types of register
 * contents are known only at run time, so each instruction checks them.
 */
#include <inttypes.h>
#include <string.h>

#include "proto/base/grow.h"
#include "runtime/device/memory.h"
#include "runtime/executor/relay/vm.h"
#include "runtime/value/error.h"
#include "runtime/value/storage_pool.h"

/* Store @v; takes over its reference. */
static int set(struct msd_any *reg, struct msd_any v)
{
	struct msd_any old = *reg;

	*reg = v;
	msd_any_drop(&old);
	return 0;
}

static int set_obj(struct msd_any *reg, struct msd_obj *obj)
{
	return obj != NULL ? set(reg, msd_of_obj(obj)) : msd_abi_no_memory();
}

static int set_copy(struct msd_any *reg, const struct msd_any *v)
{
	struct msd_any copy;

	return msd_any_copy(v, &copy) ? set(reg, copy) : msd_abi_no_memory();
}

static int set_tensor(struct msd_any *reg, struct msd_tensor *t)
{
	return set_obj(reg, t != NULL ? &t->obj : NULL);
}

static int dtype_of(const int64_t *f, struct msd_dtype *ret)
{
	if (f[0] > UINT8_MAX || f[1] > UINT8_MAX || f[1] == 0 || f[2] > UINT16_MAX ||
	    f[2] == 0) {
		(void)msd_abi_raise("ValueError", "there is no such dtype");
		return -1;
	}
	*ret = (struct msd_dtype){(uint8_t)f[0], (uint8_t)f[1], (uint16_t)f[2]};
	return 0;
}

/* Count whole bytes per element, as TVM does. */
static bool tensor_bytes(struct msd_dtype t, const int64_t *dims, size_t ndim,
			 size_t *ret)
{
	uint64_t n;

	return msd_shape_elements(dims, ndim, &n) && n <= SIZE_MAX &&
	       msd_mul_size((size_t)n, ((size_t)t.bits * t.lanes + 7) / 8, ret);
}

static int make_tensor(const struct msd_any *storage, const struct msd_any *offset,
		       struct msd_dtype dtype, const int64_t *dims, size_t ndim,
		       struct msd_any *dst)
{
	const struct msd_storage *s = storage->as.p;
	int64_t at;
	size_t bytes;

	if (storage->type != MSD_T_STORAGE) {
		return msd_abi_raise("TypeError", "expected a storage, got %s",
				     msd_type_name(storage->type));
	}
	if (msd_relay_scalar(offset, &at) != 0)
		return -1;
	if (ndim > MSD_MAX_NDIM || !tensor_bytes(dtype, dims, ndim, &bytes) || at < 0 ||
	    (uint64_t)at > s->bytes || bytes > s->bytes - (size_t)at) {
		return msd_abi_raise("ValueError",
				     "a tensor at offset %" PRId64
				     " does not fit in a storage of %zu bytes",
				     at, s->bytes);
	}
	return set_tensor(dst,
			  msd_tensor_view((char *)s->data + at, s->device, dtype, dims,
					  ndim, storage->as.obj, NULL, NULL));
}

static int alloc_tensor(const int64_t *f, struct msd_any *regs)
{
	struct msd_dtype dtype;

	if (dtype_of(f + 2, &dtype) != 0)
		return -1;
	return make_tensor(&regs[f[0]], &regs[f[1]], dtype, f + 7, (size_t)f[5],
			   &regs[f[6]]);
}

static int alloc_tensor_reg(const int64_t *f, struct msd_any *regs)
{
	int64_t dims[MSD_MAX_NDIM];
	struct msd_dtype dtype;
	size_t ndim;

	if (dtype_of(f + 3, &dtype) != 0 ||
	    msd_relay_shape(&regs[f[2]], dims, &ndim) != 0)
		return -1;
	return make_tensor(&regs[f[0]], &regs[f[1]], dtype, dims, ndim, &regs[f[6]]);
}

static int set_storage_on(struct msd_dev *dev, size_t bytes, struct msd_any *reg)
{
	struct msd_storage *s = NULL;
	struct msd_diag d = {0};
	msd_err err = msd_dev_storage(dev, bytes, &s, &d);

	if (err == MSD_OK)
		return set(reg, msd_of_obj(&s->obj));
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

static int alloc_storage(struct msd_relay_vm *vm, const struct msd_relay_ins *ins,
			 struct msd_any *regs)
{
	const int64_t *f = ins->fields;
	const bool has_shape = msd_relay_storage_has_shape(ins);
	const int64_t dst = ins->n_fields > 7 ? f[7] : f[6];
	struct msd_dtype dtype;
	int64_t size = 0;
	size_t bytes;

	if (dtype_of(f + 2, &dtype) != 0)
		return -1;
	if (!has_shape && msd_relay_scalar(&regs[f[0]], &size) != 0)
		return -1;
	bytes = (size_t)size;
	if (size < 0 ||
	    (has_shape && !tensor_bytes(dtype, f + 8, (size_t)f[6], &bytes)))
		return msd_abi_raise("ValueError", "there is no storage of this size");
	struct msd_dev *dev = msd_relay_dev(vm, f[5]);
	if (dev != NULL)
		return set_storage_on(dev, bytes, &regs[dst]);
	struct msd_storage *s = msd_storage_pool_allocate(vm->pool, bytes);
	return set_obj(&regs[dst], s != NULL ? &s->obj : NULL);
}

/* Create a constructor object with its tag, or a closure with its function's number. */
static int alloc_object(const int64_t *f, struct msd_any *regs, enum msd_type type)
{
	struct msd_array *a = msd_relay_adt_new(f[0], (size_t)f[1]);

	if (a == NULL)
		return msd_abi_no_memory();
	for (int64_t i = 0; i < f[1]; i++) {
		if (!msd_any_copy(&regs[f[3 + i]], &a->items[i + 1])) {
			msd_obj_unref(&a->obj);
			return msd_abi_no_memory();
		}
	}
	a->obj.type = type;
	return set_obj(&regs[f[2]], &a->obj);
}

static int get_field(const int64_t *f, struct msd_any *regs)
{
	int64_t tag;
	size_t n;
	const struct msd_any *fields = msd_relay_adt(&regs[f[0]], &tag, &n);

	if (fields == NULL || (uint64_t)f[1] >= n) {
		return msd_abi_raise("TypeError", "there is no field %" PRId64 " in %s",
				     f[1], msd_type_name(regs[f[0]].type));
	}
	return set_copy(&regs[f[2]], &fields[f[1]]);
}

static int set_int(struct msd_any *reg, int64_t v, uint8_t bits)
{
	const int64_t one = 1;
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_INT, bits, 1}, &one, 1);

	if (t != NULL)
		memcpy(t->dl.data, &v, bits / 8); /* little-endian, like all TVM data */
	return set_tensor(reg, t);
}

static int get_tag(const int64_t *f, struct msd_any *regs)
{
	int64_t tag;
	size_t n;

	if (msd_relay_adt(&regs[f[0]], &tag, &n) == NULL) {
		return msd_abi_raise("TypeError", "a %s has no tag",
				     msd_type_name(regs[f[0]].type));
	}
	return set_int(&regs[f[1]], tag, 32);
}

static int shape_of(const int64_t *f, struct msd_any *regs)
{
	const struct msd_dltensor *in = msd_any_dltensor(&regs[f[0]]);
	int64_t ndim;

	if (in == NULL) {
		return msd_abi_raise("TypeError", "a %s has no shape",
				     msd_type_name(regs[f[0]].type));
	}
	ndim = in->ndim;
	struct msd_tensor *t =
		msd_tensor_new((struct msd_dtype){MSD_DT_INT, 64, 1}, &ndim, 1);
	if (t != NULL && ndim > 0)
		memcpy(t->dl.data, in->shape, (size_t)ndim * sizeof(int64_t));
	return set_tensor(&regs[f[1]], t);
}

static int no_tensor(const struct msd_any *v)
{
	return msd_abi_raise("TypeError", "expected a tensor, got %s",
			     msd_type_name(v->type));
}

static int reshape(const int64_t *f, struct msd_any *regs)
{
	const struct msd_dltensor *in = msd_any_dltensor(&regs[f[0]]);
	int64_t dims[MSD_MAX_NDIM];
	size_t ndim, before, after;

	if (in == NULL)
		return no_tensor(&regs[f[0]]);
	if (msd_relay_shape(&regs[f[1]], dims, &ndim) != 0)
		return -1;
	if (!tensor_bytes(in->dtype, in->shape, (size_t)in->ndim, &before) ||
	    !tensor_bytes(in->dtype, dims, ndim, &after) || after > before)
		return msd_abi_raise("ValueError", "the new shape has more elements");
	return set_tensor(&regs[f[2]],
			  msd_tensor_view((char *)in->data + in->byte_offset,
					  in->device, in->dtype, dims, ndim,
					  regs[f[0]].as.obj, NULL, NULL));
}

static int copy_tensor(const struct msd_relay_vm *vm, const int64_t *f,
		       struct msd_any *regs)
{
	const struct msd_dltensor *in = msd_any_dltensor(&regs[f[0]]);
	struct msd_any copy;

	if (in == NULL)
		return no_tensor(&regs[f[0]]);
	return msd_relay_copy(vm, in, (int32_t)f[2], &copy) == 0
		       ? set(&regs[f[3]], copy)
		       : -1;
}

int msd_relay_step(struct msd_relay_vm *vm, const struct msd_relay_ins *ins,
		   struct msd_any *regs)
{
	const int64_t *f = ins->fields;

	switch ((int)ins->op) {
	case MSD_RELAY_MOVE:
		return set_copy(&regs[f[1]], &regs[f[0]]);
	case MSD_RELAY_INVOKE_PACKED:
		return msd_relay_call_packed(vm, ins, regs);
	case MSD_RELAY_ALLOC_TENSOR:
		return alloc_tensor(f, regs);
	case MSD_RELAY_ALLOC_TENSOR_REG:
		return alloc_tensor_reg(f, regs);
	case MSD_RELAY_ALLOC_ADT:
		return alloc_object(f, regs, MSD_T_ARRAY);
	case MSD_RELAY_ALLOC_CLOSURE:
		return alloc_object(f, regs, MSD_T_CLOSURE);
	case MSD_RELAY_GET_FIELD:
		return get_field(f, regs);
	case MSD_RELAY_LOAD_CONST:
		return set_copy(&regs[f[ins->n_fields - 1]], &vm->consts[f[0]]);
	case MSD_RELAY_GET_TAG:
		return get_tag(f, regs);
	case MSD_RELAY_LOAD_CONSTI:
		return set_int(&regs[f[1]], f[0], 64);
	case MSD_RELAY_FATAL:
		return msd_abi_raise("RuntimeError", "no case of a match fits");
	case MSD_RELAY_ALLOC_STORAGE:
		return alloc_storage(vm, ins, regs);
	case MSD_RELAY_SHAPE_OF:
		return shape_of(f, regs);
	case MSD_RELAY_RESHAPE:
		return reshape(f, regs);
	case MSD_RELAY_DEVICE_COPY:
		return copy_tensor(vm, f, regs);
	case MSD_RELAY_KILL:
		return set(&regs[f[0]], msd_none());
	default:
		return msd_abi_raise("InternalError", "unknown operation %d",
				     (int)ins->op);
	}
}

static bool is_empty(const struct msd_any *v)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	return t != NULL && msd_relay_elements(t) == 0;
}

static int put_arg(struct msd_relay_vm *vm, size_t *n, const struct msd_any *v)
{
	if (msd_any_dltensor(v) == NULL) {
		return msd_abi_raise("TypeError",
				     "argument %zu: expected a tensor, "
				     "got %s",
				     *n, msd_type_name(v->type));
	}
	if (*n == vm->cap_args &&
	    !msd_reserve(&vm->args, &vm->cap_args, *n + 1, sizeof(*vm->args)))
		return msd_abi_no_memory();
	vm->args[(*n)++] = *v; /* borrowed from the register */
	return 0;
}

int msd_relay_call_packed(struct msd_relay_vm *vm, const struct msd_relay_ins *ins,
			  const struct msd_any *regs)
{
	const int64_t *f = ins->fields;
	struct msd_function *fn = vm->packed[f[0]];
	struct msd_any ignored = msd_none();
	size_t n = 0;

	for (int64_t i = 0; i < f[1]; i++) {
		const struct msd_any *v = &regs[f[3 + i]];
		int64_t tag;
		size_t n_fields;
		const struct msd_any *fields = msd_relay_adt(v, &tag, &n_fields);

		if (fields == NULL && put_arg(vm, &n, v) != 0)
			return -1;
		for (size_t k = 0; fields != NULL && k < n_fields; k++) {
			if (put_arg(vm, &n, &fields[k]) != 0)
				return -1;
		}
	}
	/* The output is empty: loop code with zero iterations may divide by 0, so do
	 * not call it. */
	if (f[2] == 1 && n > 0 && is_empty(&vm->args[n - 1]))
		return 0;
	int rc = fn->call(fn, vm->args, (int32_t)n, &ignored);
	msd_any_drop(&ignored);
	return rc;
}
