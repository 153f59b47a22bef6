/* A system library: its constructor registers what it has, under either era's name. */
#include "fixture.h"

#ifdef FIXTURE_FFI
int TVMFFIEnvModRegisterSystemLibSymbol(const char *name, void *symbol);
#define REGISTER TVMFFIEnvModRegisterSystemLibSymbol
#define SYMBOL "__tvm_ffi_answer"
#define CONTEXT "pre_" /* a system_lib_prefix */ "__tvm_ffi__library_ctx"

int answer(void *self, const struct any *args, int32_t n,
	   struct any *ret) __asm__(SYMBOL);
int answer(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	*ret = (struct any){.type = T_INT, .v.i = 42};
	return 0;
}
#else
int TVMBackendRegisterSystemLibSymbol(const char *name, void *symbol);
#define REGISTER TVMBackendRegisterSystemLibSymbol
#define SYMBOL "answer"
#define CONTEXT "__tvm_module_ctx"

static int answer(union value *args, int *codes, int n, union value *ret, int *ret_code,
		  void *resource)
{
	(void)args;
	(void)codes;
	(void)n;
	(void)resource;
	ret->i = 42;
	*ret_code = 0;
	return 0;
}
#endif

static void *context;

__attribute__((constructor)) static void start(void)
{
	(void)REGISTER(CONTEXT, &context);
	(void)REGISTER(SYMBOL, (void *)answer);
}
