/*
 * Data constructors. The object is an array with the tag as its first item, so one
 * layout serves all. Tuples of callers have no tag and are converted on entry and
 * return.
 */
#include "runtime/executor/relay/vm.h"
#include "runtime/value/error.h"

#define MAX_DEPTH 1000 /* nesting depth of converted objects */

struct msd_array *msd_relay_adt_new(int64_t tag, size_t n)
{
	struct msd_array *a = msd_array_new(n + 1);

	if (a != NULL)
		a->items[0] = msd_int(tag);
	return a;
}

struct msd_any *msd_relay_adt(const struct msd_any *v, int64_t *ret_tag, size_t *ret_n)
{
	struct msd_array *a = v->as.p;

	if (v->type != MSD_T_ARRAY || a->size < 1 || a->items[0].type != MSD_T_INT)
		return NULL;
	*ret_tag = a->items[0].as.i;
	*ret_n = (size_t)a->size - 1;
	return a->items + 1;
}

static int take_tensor(const struct msd_relay_vm *vm, int32_t type,
		       const struct msd_any *v, struct msd_any *ret)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);
	const struct msd_dev *dev = msd_relay_dev(vm, type);
	const int32_t wanted = dev != NULL ? dev->device.type : MSD_DEV_CPU;

	if (type != 0 && t->device.type != wanted)
		return msd_relay_copy(vm, t, type, ret);
	return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
}

static int take(const struct msd_relay_vm *vm, int32_t type, const struct msd_any *v,
		struct msd_any *ret, unsigned depth)
{
	const struct msd_array *in = v->as.p;

	if (v->type == MSD_T_DLTENSOR || v->type == MSD_T_TENSOR)
		return take_tensor(vm, type, v, ret);
	if (v->type != MSD_T_ARRAY || depth == MAX_DEPTH) {
		return msd_abi_raise_code(MSD_BAD_ARGUMENT,
					  "expected a tensor or a tuple of tensors, "
					  "got %s",
					  msd_type_name(v->type));
	}
	struct msd_array *out = msd_relay_adt_new(0, (size_t)in->size);
	if (out == NULL)
		return msd_abi_no_memory();
	for (int64_t i = 0; i < in->size; i++) {
		if (take(vm, type, &in->items[i], &out->items[i + 1], depth + 1) != 0) {
			msd_obj_unref(&out->obj);
			return -1;
		}
	}
	*ret = msd_of_obj(&out->obj);
	return 0;
}

int msd_relay_take(const struct msd_relay_vm *vm, int32_t type, const struct msd_any *v,
		   struct msd_any *ret)
{
	return take(vm, type, v, ret, 0);
}

static int give(const struct msd_any *v, struct msd_any *ret, unsigned depth)
{
	int64_t tag;
	size_t n;
	const struct msd_any *fields = msd_relay_adt(v, &tag, &n);

	if (fields == NULL) {
		return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
	}
	if (depth == MAX_DEPTH)
		return msd_abi_raise("ValueError", "the result is nested too deeply");
	const size_t skip = tag != 0;
	struct msd_array *out = msd_array_new(n + skip);
	if (out == NULL)
		return msd_abi_no_memory();
	if (skip)
		out->items[0] = msd_int(tag);
	for (size_t i = 0; i < n; i++) {
		if (give(&fields[i], &out->items[i + skip], depth + 1) != 0) {
			msd_obj_unref(&out->obj);
			return -1;
		}
	}
	*ret = msd_of_obj(&out->obj);
	return 0;
}

int msd_relay_give(const struct msd_any *v, struct msd_any *ret)
{
	return give(v, ret, 0);
}
