/*
 * A library of TVM 0.21 (-DFIXTURE=21: plain names), 0.22 (=22: bool is {uint, 1}) or
 * 0.23
 * (=23: bool is {bool, 8}): values as in tvm-ffi, assertions one at a time, the error
 * hook a pointer global.
 */
#include <stdbool.h>

#include "fixture.h"

#if FIXTURE == 21
#define FN(name) name
#define CTX __tvm_ffi_library_ctx
#else
#define FN(name) __tvm_ffi_##name
#define CTX __tvm_ffi__library_ctx
#endif
#if FIXTURE == 23
#define BOOL_CODE 6
#define BOOL_BITS 8
#else
#define BOOL_CODE 1
#define BOOL_BITS 1
#endif

WEAK_SLOT void (*__TVMFFIErrorSetRaisedFromCStr)(const char *kind, const char *message);
WEAK_SLOT int (*__TVMFFIFunctionCall)(void *fn, const struct any *args, int32_t n,
				      struct any *ret);
WEAK_SLOT int (*__TVMBackendGetFuncFromEnv)(void *ctx, const char *name, void **ret);
WEAK_SLOT void *CTX;

#define CHECK(condition, text)                                                         \
	do {                                                                           \
		if (!(condition)) {                                                    \
			__TVMFFIErrorSetRaisedFromCStr("RuntimeError", text);          \
			return -1;                                                     \
		}                                                                      \
	} while (0)

static bool is_pointer(const struct any *v)
{
	return v->type == T_NONE || v->type == 4 || v->type == T_DLTENSOR ||
	       v->type >= 64;
}

/* In 0.21 an object of ours would be read wrongly: only plain DLTensors may come. */
static struct tensor *get(const struct any *v)
{
	return FIXTURE == 21 ? v->v.p : tensor_of(v);
}

/* scale(A: [4, 8] float32, s, B: [4, 8] float32) */
int FN(scale)(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)ret;
	CHECK(n == 3, "scale: num_args should be 3");
	struct tensor *a = get(&args[0]);
	struct tensor *b = get(&args[2]);
	CHECK(is_pointer(&args[0]), "scale: Expect arg[0] to be pointer");
	CHECK(args[1].type == T_FLOAT, "scale: Expect arg[1] to be float");
	CHECK(is_pointer(&args[2]), "scale: Expect arg[2] to be pointer");
	CHECK(a->ndim == 2, "scale.A.ndim is expected to equal 2");
	CHECK(a->code == 2 && a->bits == 32 && a->lanes == 1,
	      "scale.A.dtype is expected to be float32");
	CHECK(a->shape[0] == 4,
	      "Argument scale.A.shape[0] has an unsatisfied constraint: "
	      "(T.int64(4) == T.Cast(\"int64\", scale.A.shape[0]))");
	CHECK(a->shape[1] == 8,
	      "Argument scale.A.shape[1] has an unsatisfied constraint: "
	      "(8 == scale.A.shape[1])");
	CHECK(b->ndim == 2, "scale.B.ndim is expected to equal 2");
	CHECK(b->code == 2 && b->bits == 32 && b->lanes == 1,
	      "scale.B.dtype is expected to be float32");
	CHECK(b->shape[0] == 4 && b->shape[1] == 8, "Argument scale.B.shape[0] has an "
						    "unsatisfied constraint: (4 == x)");
	for (int i = 0; i < 32; i++)
		((float *)b->data)[i] = ((float *)a->data)[i] * (float)args[1].v.f;
	return 0;
}

/* invert(A: [n] bool, B: [n] bool) */
int FN(invert)(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)ret;
	CHECK(n == 2, "invert: num_args should be 2");
	struct tensor *a = get(&args[0]);
	struct tensor *b = get(&args[1]);
	CHECK(is_pointer(&args[0]), "invert: Expect arg[0] to be pointer");
	CHECK(is_pointer(&args[1]), "invert: Expect arg[1] to be pointer");
	CHECK(a->ndim == 1, "invert.A.ndim is expected to equal 1");
	CHECK(a->code == BOOL_CODE && a->bits == BOOL_BITS && a->lanes == 1,
	      "invert.A.dtype is expected to be bool");
	CHECK(b->ndim == 1, "invert.B.ndim is expected to equal 1");
	CHECK(b->code == BOOL_CODE && b->bits == BOOL_BITS && b->lanes == 1,
	      "invert.B.dtype is expected to be bool");
	CHECK(b->shape[0] == a->shape[0],
	      "Argument invert.B.shape[0] has an unsatisfied "
	      "constraint: (n == invert.B.shape[0])");
	for (int64_t i = 0; i < a->shape[0]; i++)
		((uint8_t *)b->data)[i] = !((uint8_t *)a->data)[i];
	return 0;
}

/* length(text): of a string in whatever form it comes; -1 for objects of ours in 0.21
 */
int FN(length)(void *self, const struct any *args, int32_t n, struct any *ret)
{
	int64_t count = -1;

	(void)self;
	if (n == 1 && args[0].type == T_RAW_STR) {
		for (count = 0; ((char *)args[0].v.p)[count] != '\0';)
			count++;
	}
	*ret = (struct any){.type = T_INT, .v.i = count};
	return 0;
}

int FN(call_missing)(void *self, const struct any *args, int32_t n, struct any *ret)
{
	void *handle;

	(void)self;
	if (__TVMBackendGetFuncFromEnv(CTX, "no.such.function", &handle) != 0)
		return -1;
	return __TVMFFIFunctionCall(handle, args, n, ret);
}

#if FIXTURE == 21
const char __tvm_main__[] = "scale";
#endif
