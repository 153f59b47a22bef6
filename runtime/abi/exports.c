/* The exported symbols. Each calls the modserd function that does the work. Other
 * code calls that function directly, so that it does not depend on the exports. */
#include "runtime/abi/exports.h"

#include "proto/base/half.h"
#include "runtime/abi/anylist.h"
#include "runtime/abi/ffi.h"
#include "runtime/abi/syslib.h"
#include "runtime/abi/workspace.h"
#include "runtime/device/device.h"
#include "runtime/value/error.h"

int TVMFFIFunctionCall(void *fn, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	return msd_ffi_function_call(fn, args, n, ret);
}

void *TVMFFIEnvGetStream(int32_t device_type, int32_t device_id)
{
	struct msd_dev *dev = msd_dev_peek((struct msd_device){device_type, device_id});

	return dev != NULL && dev->ops->stream != NULL ? dev->ops->stream(dev) : NULL;
}

int TVMFFIEnvSetStream(int32_t device_type, int32_t device_id, void *stream,
		       void **ret_before)
{
	struct msd_dev *dev = msd_dev_peek((struct msd_device){device_type, device_id});
	char device[MSD_DTYPE_NAME_MAX];
	struct msd_diag d = {0};

	if (dev == NULL || dev->ops->set_stream == NULL) {
		return msd_abi_raise_code(MSD_UNSUPPORTED,
					  "TVMFFIEnvSetStream: device %s:%d has no "
					  "streams here",
					  msd_device_type_format(device_type, device),
					  device_id);
	}
	void *before = dev->ops->stream(dev);
	const msd_err err = dev->ops->set_stream(dev, stream, &d);
	if (err == MSD_OK && ret_before != NULL)
		*ret_before = before;
	if (err == MSD_OK)
		return 0;
	(void)msd_abi_raise_code(err, "TVMFFIEnvSetStream: %s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

int TVMFFIEnvModLookupFromImports(void *ctx, const char *name, void **ret)
{
	return msd_ffi_lookup(ctx, name, ret);
}

int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol)
{
	return msd_syslib_register(name, symbol);
}

int TVMFFIHandleInitOnce(void **handle, int (*init)(void **ret))
{
	return msd_ffi_handle_init_once(handle, init);
}

void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *message)
{
	msd_ffi_raise(kind, message);
}

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t n)
{
	msd_ffi_raise_parts(kind, parts, n);
}

int TVMBackendAnyListSetPackedArg(void *list, int index, void *args, void *codes,
				  int arg)
{
	return msd_list_set_arg(list, index, args, codes, arg);
}

int TVMBackendAnyListResetItem(void *list, int index)
{
	return msd_list_reset(list, index);
}

int TVMBackendAnyListMoveFromPackedReturn(void *list, int index, void *args,
					  void *codes, int ret)
{
	return msd_list_move(list, index, args, codes, ret);
}

int TVMBackendGetFuncFromEnv(void *ctx, const char *name, void **ret)
{
	return msd_ffi_lookup(ctx, name, ret);
}

void *TVMBackendAllocWorkspace(int device_type, int device_id, uint64_t n_bytes,
			       int dtype_code_hint, int dtype_bits_hint)
{
	return msd_workspace_alloc(device_type, device_id, n_bytes, dtype_code_hint,
				   dtype_bits_hint);
}

int TVMBackendFreeWorkspace(int device_type, int device_id, void *p)
{
	return msd_workspace_free(device_type, device_id, p);
}

int TVMBackendParallelLaunch(msd_parallel_lambda f, void *data, int num_task)
{
	return msd_pool_launch(f, data, num_task);
}

int TVMBackendParallelBarrier(int task_id, struct msd_parallel_env *env)
{
	return msd_pool_barrier(task_id, env);
}

int TVMFuncCall(void *fn, union msd_classic_value *args, int *codes, int n,
		union msd_classic_value *ret, int *ret_code)
{
	return msd_classic_func_call(fn, args, codes, n, ret, ret_code);
}

int TVMFuncCreateFromCFunc(msd_classic_c_function call, void *resource,
			   void (*finish)(void *resource), void **ret)
{
	return msd_classic_function_create(call, resource, finish, ret);
}

int TVMFuncFree(void *fn)
{
	return msd_classic_function_free(fn);
}

int TVMFuncRegisterGlobal(const char *name, void *fn, int may_replace)
{
	return msd_classic_register(name, fn, may_replace);
}

int TVMFuncGetGlobal(const char *name, void **ret)
{
	return msd_classic_get_global(name, ret);
}

int TVMCFuncSetReturn(void *ret, union msd_classic_value *values, int *codes, int n)
{
	return msd_classic_set_return(ret, values, codes, n);
}

void TVMAPISetLastError(const char *message)
{
	msd_classic_set_last_error(message);
}

int TVMBackendRunOnce(void **handle, int (*f)(void *data), void *data, int n_bytes)
{
	return msd_ffi_run_once(handle, f, data, n_bytes);
}

int TVMBackendRegisterSystemLibSymbol(const char *name, void *symbol)
{
	return msd_syslib_register(name, symbol);
}

uint16_t __gnu_f2h_ieee(float v)
{
	return msd_half_from_float(v);
}

float __gnu_h2f_ieee(uint16_t v)
{
	return msd_half_to_float(v);
}

#if defined(__x86_64__)
/* uint16_t or _Float16 __truncdfhf2(double): LLVM up to 14 reads the result from eax,
 * later versions from xmm0. Set both. */
__asm__(".globl __truncdfhf2\n"
	".type __truncdfhf2, @function\n"
	"__truncdfhf2:\n"
	"	subq $8, %rsp\n"
	"	call msd_half_from_double@PLT\n"
	"	movzwl %ax, %eax\n"
	"	movd %eax, %xmm0\n"
	"	addq $8, %rsp\n"
	"	ret\n"
	".size __truncdfhf2, .-__truncdfhf2\n");
#else
MSD_EXPORT uint16_t __truncdfhf2(double v);
uint16_t __truncdfhf2(double v)
{
	return msd_half_from_double(v);
}
#endif
