/*
 * A library as TVM compiles it, which uses what plugins/bringer.c brings: the packed
 * functions through each of TVM's look-ups, a module of the plugin's kind in its import
 * tree (BLOB), and the context symbol. USER_CLASSIC: in the ABI up to TVM 0.20.
 */
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))

EXPORT int (*__TVMBringerOffset)(int);

#ifdef USER_CLASSIC
EXPORT void *__tvm_module_ctx;
EXPORT const unsigned char __tvm_dev_mblob[] = {BLOB};
union value {
	int64_t i;
	double f;
	void *p;
};
int TVMFuncGetGlobal(const char *name, void **ret);
int TVMFuncCall(void *f, union value *args, int *codes, int n, union value *ret,
		int *code);
int TVMBackendGetFuncFromEnv(void *ctx, const char *name, void **ret);
void TVMAPISetLastError(const char *text);

static int forward(void *f, union value *args, int *codes, int n, union value *ret,
		   int *code)
{
	if (f == NULL) {
		TVMAPISetLastError("the function was not found");
		return -1;
	}
	return TVMFuncCall(f, args, codes, n, ret, code);
}

EXPORT int global_add(union value *args, int *codes, int n, union value *ret, int *code)
{
	void *f = NULL;

	if (TVMFuncGetGlobal("bringer.add", &f) != 0)
		return -1;
	return forward(f, args, codes, n, ret, code);
}

EXPORT int import_scale(union value *args, int *codes, int n, union value *ret,
			int *code)
{
	void *f = NULL;

	if (TVMBackendGetFuncFromEnv(__tvm_module_ctx, "scale", &f) != 0)
		return -1;
	return forward(f, args, codes, n, ret, code);
}

EXPORT int with_offset(union value *args, int *codes, int n, union value *ret,
		       int *code)
{
	(void)codes, (void)n;
	ret->i = __TVMBringerOffset((int)args[0].i);
	*code = 0;
	return 0;
}
#else
EXPORT void *__tvm_ffi__library_ctx;
EXPORT const unsigned char __tvm_ffi__library_bin[] = {BLOB};
struct any {
	int32_t type;
	uint32_t small;
	int64_t i;
};
struct bytes {
	const char *p;
	size_t n;
};
int TVMFFIFunctionGetGlobal(const struct bytes *name, void **ret);
int TVMFFIFunctionCall(void *f, const struct any *args, int32_t n, struct any *ret);
int TVMFFIEnvModLookupFromImports(void *ctx, const char *name, void **ret);
int TVMFFIObjectDecRef(void *object);
void TVMFFIErrorSetRaisedFromCStr(const char *kind, const char *text);

#define FUNCTION(name)                                                                 \
	EXPORT int __tvm_ffi_##name(void *self, const struct any *args, int32_t n,     \
				    struct any *ret)

static int global(const struct bytes *name, const struct any *args, int32_t n,
		  struct any *ret)
{
	void *f = NULL;
	int rc;

	if (TVMFFIFunctionGetGlobal(name, &f) != 0)
		return -1;
	if (f == NULL) {
		TVMFFIErrorSetRaisedFromCStr("ValueError",
					     "the function was not found");
		return -1;
	}
	rc = TVMFFIFunctionCall(f, args, n, ret);
	(void)TVMFFIObjectDecRef(f);
	return rc;
}

FUNCTION(global_add)
{
	static const struct bytes name = {"bringer.add", 11};

	(void)self;
	return global(&name, args, n, ret);
}

FUNCTION(global_hidden)
{
	static const struct bytes name = {"bringer.hidden", 14};

	(void)self;
	return global(&name, args, n, ret);
}

FUNCTION(import_scale)
{
	void *f = NULL;

	(void)self;
	if (TVMFFIEnvModLookupFromImports(__tvm_ffi__library_ctx, "scale", &f) != 0)
		return -1;
	return TVMFFIFunctionCall(f, args, n, ret);
}

FUNCTION(with_offset)
{
	(void)self, (void)n;
	ret->type = 1;
	ret->i = __TVMBringerOffset((int)args[0].i);
	return 0;
}
#endif
