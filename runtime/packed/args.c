/*
 * Typed readers of a packed function's arguments. Each checks that the argument
 * exists and has the expected type, else raises an error with its position and both
 * types.
 */
#include "runtime/packed/args.h"

bool msd_args_count(struct msd_args a, int32_t min, int32_t max)
{
	if (a.n >= min && (max < 0 || a.n <= max))
		return true;
	if (max == min) {
		(void)msd_abi_raise("TypeError", "expected %d arguments but got %d",
				    (int)min, (int)a.n);
	} else if (max < 0) {
		(void)msd_abi_raise("TypeError",
				    "expected at least %d arguments but got %d",
				    (int)min, (int)a.n);
	} else {
		(void)msd_abi_raise("TypeError",
				    "expected %d to %d arguments but got %d", (int)min,
				    (int)max, (int)a.n);
	}
	return false;
}

bool msd_args_int(struct msd_args a, int32_t i, int64_t *ret)
{
	if (a.v[i].type != MSD_T_INT && a.v[i].type != MSD_T_BOOL)
		return msd_args_refuse(a, i, "int") == 0;
	*ret = a.v[i].as.i;
	return true;
}

bool msd_args_float(struct msd_args a, int32_t i, double *ret)
{
	if (a.v[i].type == MSD_T_FLOAT) {
		*ret = a.v[i].as.f;
		return true;
	}
	if (a.v[i].type != MSD_T_INT)
		return msd_args_refuse(a, i, "float") == 0;
	*ret = (double)a.v[i].as.i;
	return true;
}

bool msd_args_tensor(struct msd_args a, int32_t i, struct msd_dltensor **ret)
{
	struct msd_dltensor *t = msd_any_dltensor(&a.v[i]);

	if (t == NULL)
		return msd_args_refuse(a, i, "tensor") == 0;
	*ret = t;
	return true;
}

bool msd_args_host_tensor(struct msd_args a, int32_t i, struct msd_dltensor **ret)
{
	char name[MSD_DTYPE_NAME_MAX];
	struct msd_dltensor *t;

	if (!msd_args_tensor(a, i, &t))
		return false;
	if (t->device.type != MSD_DEV_CPU && t->device.type != MSD_DEV_CUDA_HOST) {
		(void)msd_abi_raise(
			"ValueError",
			"argument %d: expected a tensor on the cpu but it is on %s",
			(int)i, msd_device_type_format(t->device.type, name));
		return false;
	}
	*ret = t;
	return true;
}

static bool is_compact(const struct msd_dltensor *t, int32_t i)
{
	if (msd_dltensor_is_compact(t))
		return true;
	(void)msd_abi_raise("ValueError", "argument %d: expected a compact tensor",
			    (int)i);
	return false;
}

bool msd_args_compact_tensor(struct msd_args a, int32_t i, struct msd_dltensor **ret)
{
	return msd_args_tensor(a, i, ret) && is_compact(*ret, i);
}

bool msd_args_host_compact_tensor(struct msd_args a, int32_t i,
				  struct msd_dltensor **ret)
{
	return msd_args_host_tensor(a, i, ret) && is_compact(*ret, i);
}

bool msd_args_shape(struct msd_args a, int32_t i, struct msd_shape **ret)
{
	if (a.v[i].type != MSD_T_SHAPE)
		return msd_args_refuse(a, i, "shape") == 0;
	*ret = (struct msd_shape *)(void *)a.v[i].as.obj;
	return true;
}

bool msd_args_tuple(struct msd_args a, int32_t i, struct msd_array **ret)
{
	if (a.v[i].type != MSD_T_ARRAY)
		return msd_args_refuse(a, i, "tuple") == 0;
	*ret = (struct msd_array *)(void *)a.v[i].as.obj;
	return true;
}

bool msd_args_dtype(struct msd_args a, int32_t i, struct msd_dtype *ret)
{
	struct msd_span name;

	if (a.v[i].type == MSD_T_DTYPE) {
		*ret = a.v[i].as.dtype;
		return true;
	}
	if (!msd_any_str(&a.v[i], &name))
		return msd_args_refuse(a, i, "dtype") == 0;
	if (msd_dtype_parse((const char *)name.p, name.n, ret))
		return true;
	(void)msd_abi_raise("ValueError", "argument %d: \"%.*s\" is not a dtype",
			    (int)i, (int)name.n, (const char *)name.p);
	return false;
}

bool msd_args_function(struct msd_args a, int32_t i, struct msd_function **ret)
{
	if (a.v[i].type != MSD_T_FUNCTION)
		return msd_args_refuse(a, i, "function") == 0;
	*ret = (struct msd_function *)(void *)a.v[i].as.obj;
	return true;
}

bool msd_args_vm(struct msd_args a, int32_t i, struct msd_vm_memory **ret)
{
	if (a.v[i].type != MSD_T_POINTER || a.v[i].as.p == NULL)
		return msd_args_refuse(a, i, "the VM") == 0;
	*ret = a.v[i].as.p;
	return true;
}

int msd_return_obj(struct msd_obj *obj, struct msd_any *ret)
{
	if (obj == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(obj);
	return 0;
}

int msd_return_copy(const struct msd_any *v, struct msd_any *ret)
{
	if (!msd_any_copy(v, ret))
		return msd_abi_no_memory();
	return 0;
}

bool msd_shape_bytes(const struct msd_shape *shape, struct msd_dtype dtype, size_t *ret)
{
	uint64_t bytes;
	uint64_t n;

	if (dtype.code == MSD_DT_UINT && dtype.bits == 1)
		dtype.bits = 8; /* bool up to 0.22: 1 bit by name, a byte in memory */
	if (!msd_shape_elements(shape->dim, shape->ndim, &n) ||
	    !msd_dtype_bytes(dtype, n, &bytes) || bytes > SIZE_MAX)
		return false;
	*ret = (size_t)bytes;
	return true;
}

int msd_name_error(const struct msd_function *callee, int rc)
{
	struct msd_diag d = {0};
	msd_err err;

	if (rc == 0)
		return 0;
	err = msd_abi_fetch_error(&d);
	(void)msd_abi_raise_code(err, "%s: %s", msd_function_name(callee),
				 msd_diag_text(&d));
	msd_diag_finish(&d);
	return rc;
}
