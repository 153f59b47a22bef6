/*
 * Libraries as TVM's compiler leaves them: symbols of one era around a blob. Compiled
 * once per era; BLOB_FILE is written at build time by write_artifact. None is ever
 * loaded.
 */
#include "embed.h"

#if defined(ERA_CLASSIC)
int TVMFuncCall(void);
void *__tvm_module_ctx;
__attribute__((weak)) void *__TVMBackendGetFuncFromEnv;
const char __tvm_main__[] = "add";
int add(void);
int add(void)
{
	return TVMFuncCall();
}
int _lookup_linked_param(void);
int _lookup_linked_param(void)
{
	return 0;
}
__attribute__((weak)) int __truncsfhf2(void);
int __truncsfhf2(void)
{
	return 0;
}
EMBED(__tvm_dev_mblob);
/* A symbol of many pages between two small ones of the same section. */
const char before_big[] = "before";
const unsigned char big[1 << 18] = {1};
const char after_big[] = "after";
#elif defined(ERA_FFI_021)
void *__tvm_ffi_library_ctx;
__attribute__((weak)) void *__TVMFFIFunctionCall;
int add(void);
int add(void)
{
	return 0;
}
EMBED(__tvm_ffi_library_bin);
#elif defined(ERA_FFI)
void TVMFFIErrorSetRaisedFromCStrParts(void);
void *__tvm_ffi__library_ctx;
__attribute__((weak)) void *__TVMFFIFunctionCall;
int __tvm_ffi_add(void);
int __tvm_ffi_add(void)
{
	TVMFFIErrorSetRaisedFromCStrParts();
	return 0;
}
__attribute__((weak)) int __tvm_ffi_main(void);
int __tvm_ffi_main(void)
{
	return 0;
}
int __tvm_ffi__doc_add(void);
int __tvm_ffi__doc_add(void)
{
	return 0;
}
EMBED(__tvm_ffi__library_bin);
#else
int add(void);
int add(void)
{
	return 0;
}
#endif
