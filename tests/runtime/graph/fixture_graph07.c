/*
 * A library as TVM 0.7 leaves a graph model: y = 2 * (x + w). The second operator calls
 * a function of the other piece of code, through the root of the tree: that is what the
 * context was in 0.7.
 */
#include "../fixture.h"

#define ARGS                                                                           \
	union value *args, int *codes, int n, union value *ret, int *ret_code,         \
		void *resource

void *__tvm_module_ctx;
void (*__TVMAPISetLastError)(const char *message);
int (*__TVMBackendGetFuncFromEnv)(void *ctx, const char *name, void **ret);
int (*__TVMFuncCall)(void *fn, union value *args, int *codes, int n, union value *ret,
		     int *ret_code);

__asm__(".section .rodata\n"
	".globl __tvm_dev_mblob\n"
	".type __tvm_dev_mblob, @object\n"
	"__tvm_dev_mblob:\n"
	".incbin \"" BLOB_FILE "\"\n"
	".size __tvm_dev_mblob, .-__tvm_dev_mblob\n"
	".previous\n");

int fused_add(ARGS);
int fused_twice(ARGS);
int external_twice(ARGS);

static int expect(int n, int want)
{
	if (n != want)
		__TVMAPISetLastError("Assert fail: num_args");
	return n == want ? 0 : -1;
}

int fused_add(ARGS)
{
	(void)codes, (void)ret, (void)ret_code, (void)resource;
	for (int i = 0; expect(n, 3) == 0 && i < 3; i++) {
		((float *)((struct tensor *)args[2].p)->data)[i] =
			((float *)((struct tensor *)args[0].p)->data)[i] +
			((float *)((struct tensor *)args[1].p)->data)[i];
	}
	return expect(n, 3);
}

int external_twice(ARGS)
{
	(void)codes, (void)ret, (void)ret_code, (void)resource;
	for (int i = 0; expect(n, 2) == 0 && i < 3; i++) {
		((float *)((struct tensor *)args[1].p)->data)[i] =
			2 * ((float *)((struct tensor *)args[0].p)->data)[i];
	}
	return expect(n, 2);
}

int fused_twice(ARGS)
{
	void *fn;

	(void)resource;
	if (__TVMBackendGetFuncFromEnv(__tvm_module_ctx, "external_twice", &fn) != 0)
		return -1;
	return __TVMFuncCall(fn, args, codes, n, ret, ret_code);
}
