/* A library as TVM 0.24 - 0.27 makes it: prefixed functions, printed signatures, the
 * error hook an undefined symbol, everything else through pointer globals. */
#include <string.h>

#include "fixture.h"

void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t n);

WEAK_SLOT int (*__TVMFFIFunctionCall)(void *fn, const struct any *args, int32_t n,
				      struct any *ret);
WEAK_SLOT int (*__TVMFFIEnvModLookupFromImports)(void *ctx, const char *name,
						 void **ret);
WEAK_SLOT int (*__TVMFFIHandleInitOnce)(void **handle, int (*init)(void **ret));
WEAK_SLOT void *(*__TVMBackendAllocWorkspace)(int type, int id, uint64_t n, int code,
					      int bits);
WEAK_SLOT int (*__TVMBackendFreeWorkspace)(int type, int id, void *p);
WEAK_SLOT int (*__TVMBackendParallelLaunch)(int (*f)(int, struct parallel_env *,
						     void *),
					    void *data, int num_task);
WEAK_SLOT int (*__TVMBackendParallelBarrier)(int task, struct parallel_env *env);
WEAK_SLOT void *__tvm_ffi__library_ctx;

static int raise(const char *kind, const char *a, const char *b, const char *c)
{
	const char *parts[] = {a, NULL, b, c};

	TVMFFIErrorSetRaisedFromCStrParts(kind, parts, 4);
	return -1;
}

#define ADDONE "addone(A: Tensor([n], float32), B: Tensor([n], float32))"

int __tvm_ffi_addone(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)ret;
	if (n != 2) {
		return raise("TypeError", "Expected 2 arguments when calling:\n  `",
			     ADDONE, "`");
	}
	struct tensor *a = tensor_of(&args[0]);
	struct tensor *b = tensor_of(&args[1]);
	if (a->ndim != 1 || a->code != 2 || a->bits != 32) {
		return raise("TypeError",
			     "Mismatched A.dtype on argument #0 when calling:\n  `",
			     ADDONE, "`,\n  expected float32");
	}
	if (b->shape[0] != a->shape[0]) {
		return raise("ValueError", "Mismatched B.shape[0] on argument #1", "",
			     "");
	}
	for (int64_t i = 0; i < a->shape[0]; i++)
		((float *)b->data)[i] = ((float *)a->data)[i] + 1;
	return 0;
}

__attribute__((weak)) int __tvm_ffi_main(void *self, const struct any *args, int32_t n,
					 struct any *ret)
{
	return __tvm_ffi_addone(self, args, n, ret);
}

/* What has a name like this is no function that callers know. */
int __tvm_ffi__metadata_addone(void *self, const struct any *args, int32_t n,
			       struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return raise("RuntimeError", "no metadata", "", "");
}

int __tvm_ffi_ret_int(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	*ret = (struct any){.type = T_INT, .v.i = n > 0 ? args[0].v.i * 2 : -1};
	return 0;
}

int __tvm_ffi_ret_float(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	*ret = (struct any){.type = T_FLOAT, .v.f = n > 0 ? args[0].v.f / 2 : -1};
	return 0;
}

int __tvm_ffi_ret_text(void *self, const struct any *args, int32_t n, struct any *ret)
{
	static char text[] = "borrowed text";

	(void)self;
	(void)args;
	(void)n;
	*ret = (struct any){.type = T_RAW_STR, .v.p = text};
	return 0;
}

int __tvm_ffi_fail(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return raise("ValueError", "it does ", "not ", "work");
}

int __tvm_ffi_fail_silently(void *self, const struct any *args, int32_t n,
			    struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return -1;
}

static int init_missing(void **ret)
{
	return __TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx,
					       "no.such.function", ret);
}

int __tvm_ffi_call_missing(void *self, const struct any *args, int32_t n,
			   struct any *ret)
{
	static void *handle;

	(void)self;
	if (__TVMFFIHandleInitOnce(&handle, init_missing) != 0)
		return -1;
	return __TVMFFIFunctionCall(handle, args, n, ret);
}

static int init_set_device(void **ret)
{
	return __TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx,
					       "__tvm_set_device", ret);
}

int __tvm_ffi_call_set_device(void *self, const struct any *args, int32_t n,
			      struct any *ret)
{
	static void *handle;

	(void)self;
	if (__TVMFFIHandleInitOnce(&handle, init_set_device) != 0)
		return -1;
	return __TVMFFIFunctionCall(handle, args, n, ret);
}

struct sum {
	const float *in;
	int64_t n;
	double *parts;  /* one per task */
	double *totals; /* one per task, after the barrier */
};

static int sum_task(int task, struct parallel_env *env, void *data)
{
	struct sum *s = data;
	double total = 0;

	s->parts[task] = 0;
	for (int64_t i = task; i < s->n; i += env->num_task)
		s->parts[task] += s->in[i];
	if (__TVMBackendParallelBarrier(task, env) != 0)
		return -1;
	for (int i = 0; i < env->num_task; i++)
		total += s->parts[i];
	s->totals[task] = total;
	return 0;
}

/* par_sum(A, out): every task's view of the sum, from a workspace. */
int __tvm_ffi_par_sum(void *self, const struct any *args, int32_t n, struct any *ret)
{
	struct tensor *a = tensor_of(&args[0]);
	struct tensor *out = tensor_of(&args[1]);
	double *parts = __TVMBackendAllocWorkspace(1, 0, sizeof(double) * 1024, 2, 64);
	struct sum s = {a->data, a->shape[0], parts, out->data};

	(void)self;
	(void)n;
	(void)ret;
	if (parts == NULL)
		return -1;
	int rc = __TVMBackendParallelLaunch(sum_task, &s, 0);
	return __TVMBackendFreeWorkspace(1, 0, parts) != 0 ? -1 : rc;
}

static int fail_task(int task, struct parallel_env *env, void *data)
{
	(void)env;
	(void)data;
	if (task + 1 < env->num_task)
		return 0;
	return raise("RuntimeError", "the last task failed", "", "");
}

int __tvm_ffi_par_fail(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return __TVMBackendParallelLaunch(fail_task, NULL, 0);
}

int __tvm_ffi_gpu_workspace(void *self, const struct any *args, int32_t n,
			    struct any *ret)
{
	(void)self;
	(void)args;
	(void)n;
	(void)ret;
	return __TVMBackendAllocWorkspace(2, 0, 64, 2, 32) == NULL ? -1 : 0;
}
