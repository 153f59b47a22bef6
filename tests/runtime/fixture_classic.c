/*
 * A library as TVM 0.8 makes it: plain names, values and type codes apart, tensors read
 * before their codes are looked at. With -DFIXTURE_C_TARGET: code of the C target,
 * which checks nothing, calls the API by name, and whose __tvm_main__ is a function.
 */
#include <stddef.h>

#include "fixture.h"

#define ARGS                                                                           \
	union value *args, int *codes, int n, union value *ret, int *ret_code,         \
		void *resource

#ifdef FIXTURE_C_TARGET
int TVMBackendGetFuncFromEnv(void *ctx, const char *name, void **ret);
int TVMFuncCall(void *fn, union value *args, int *codes, int n, union value *ret,
		int *ret_code);
void *__tvm_module_ctx = NULL;

int __tvm_main__(ARGS)
{
	struct tensor *a = args[0].p;
	struct tensor *b = args[1].p;

	(void)codes;
	(void)n;
	(void)ret;
	(void)ret_code;
	(void)resource;
	for (int64_t i = 0; i < a->shape[0]; i++)
		((float *)b->data)[i] = ((float *)a->data)[i] + 1;
	return 0;
}

int call_missing(ARGS)
{
	void *fn;

	(void)resource;
	if (TVMBackendGetFuncFromEnv(__tvm_module_ctx, "no.such.function", &fn) != 0)
		return -1;
	return TVMFuncCall(fn, args, codes, n, ret, ret_code);
}
#else
WEAK_SLOT void (*__TVMAPISetLastError)(const char *message);
WEAK_SLOT int (*__TVMFuncCall)(void *fn, union value *args, int *codes, int n,
			       union value *ret, int *ret_code);
WEAK_SLOT int (*__TVMBackendGetFuncFromEnv)(void *ctx, const char *name, void **ret);
WEAK_SLOT void *__tvm_module_ctx;

#define CHECK(condition, text)                                                         \
	do {                                                                           \
		if (!(condition)) {                                                    \
			__TVMAPISetLastError("Assert fail: " #condition ", " text);    \
			return -1;                                                     \
		}                                                                      \
	} while (0)

int axpb(ARGS)
{
	(void)ret;
	(void)ret_code;
	(void)resource;
	CHECK(n == 4, "axpb: num_args should be 4");
	struct tensor *x = args[1].p;
	struct tensor *y = args[3].p;
	const int64_t n_x = x->shape[0]; /* before the codes, as real code does */
	CHECK(codes[0] == 2, "axpb: Expect arg[0] to be float");
	CHECK(codes[1] == 7, "axpb: Expect arg[1] to be pointer");
	CHECK(codes[2] == 0, "axpb: Expect arg[2] to be int");
	CHECK(codes[3] == 7, "axpb: Expect arg[3] to be pointer");
	CHECK(x->ndim == 1, "arg1.ndim is expected to equal 1");
	CHECK(x->code == 2 && x->bits == 32 && x->lanes == 1,
	      "arg1.dtype is expected to be float32");
	CHECK(y->ndim == 1, "arg3.ndim is expected to equal 1");
	CHECK(y->code == 2 && y->bits == 32 && y->lanes == 1,
	      "arg3.dtype is expected to be float32");
	CHECK(n_x == y->shape[0],
	      "Argument arg3.shape[0] has an unsatisfied constraint: (n "
	      "== int32(arg3.shape[0]))");
	for (int64_t i = 0; i < n_x; i++) {
		((float *)y->data)[i] =
			(float)args[0].f * ((float *)x->data)[i] + (float)args[2].i;
	}
	return 0;
}

int add_ints(ARGS)
{
	(void)resource;
	CHECK(n == 2, "add_ints: num_args should be 2");
	CHECK(codes[0] == 0, "add_ints: Expect arg[0] to be int");
	CHECK(codes[1] == 0, "add_ints: Expect arg[1] to be int");
	ret->i = args[0].i + args[1].i;
	*ret_code = 0;
	return 0;
}

/* What kinds arrive: the codes as a number, most significant first. */
int codes_of(ARGS)
{
	(void)args;
	(void)resource;
	ret->i = 0;
	for (int i = 0; i < n; i++)
		ret->i = ret->i * 16 + codes[i];
	*ret_code = 0;
	return 0;
}

int call_missing(ARGS)
{
	void *fn;

	(void)resource;
	if (__TVMBackendGetFuncFromEnv(__tvm_module_ctx, "no.such.function", &fn) != 0)
		return -1;
	return __TVMFuncCall(fn, args, codes, n, ret, ret_code);
}

int call_set_device(ARGS)
{
	void *fn;

	(void)resource;
	if (__TVMBackendGetFuncFromEnv(__tvm_module_ctx, "__tvm_set_device", &fn) != 0)
		return -1;
	return __TVMFuncCall(fn, args, codes, n, ret, ret_code);
}

const char __tvm_main__[] = "axpb";
#endif
