#ifndef MSD_RUNTIME_ABI_CLASSIC_H
#define MSD_RUNTIME_ABI_CLASSIC_H
/* Calls in the classic ABI (TVM 0.6 - 0.20): values and type codes in two arrays.
 * Both directions convert to and from struct msd_any. */
#include "runtime/value/value.h"

/* TVMValue */
union msd_classic_value {
	int64_t i;
	double f;
	void *p;
	const char *str;
	struct msd_dtype dtype;
	struct msd_device device;
};
_Static_assert(sizeof(union msd_classic_value) == 8, "TVMValue");

enum msd_classic_code {
	MSD_C_INT = 0,
	MSD_C_FLOAT = 2,
	MSD_C_HANDLE = 3,
	MSD_C_NULL = 4,
	MSD_C_DTYPE = 5,
	MSD_C_DEVICE = 6,
	MSD_C_DLTENSOR = 7,
	MSD_C_OBJECT = 8,
	MSD_C_MODULE = 9,
	MSD_C_FUNCTION = 10,
	MSD_C_STR = 11,
	MSD_C_BYTES = 12,
	MSD_C_NDARRAY = 13,
	MSD_C_RVALUE = 14,
	MSD_C_BOOL = 15, /* 0.18+ */
};

/* 0.7+. A 0.6 function takes only the first three parameters and ignores the rest. */
typedef int (*msd_classic_code_fn)(union msd_classic_value *args, int *codes, int n,
				   union msd_classic_value *ret, int *ret_code,
				   void *resource);

/* A library function with another calling convention: fn.call converts and calls
 * @code. */
struct msd_thunk {
	struct msd_function fn;
	void *code;
};

/* Calls the code of a thunk with converted arguments. */
typedef int (*msd_classic_step)(const struct msd_thunk *thunk,
				union msd_classic_value *values, int *codes, int n,
				struct msd_any *ret);
/** Convert arguments, which stay valid during @call, and call it. */
int msd_classic_convert(const struct msd_thunk *thunk, const struct msd_any *args,
			int32_t n, msd_classic_step call, struct msd_any *ret);

/** msd_safe_call of a thunk (@self) with a classic packed function as code. */
int msd_classic_thunk(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret);
/**
 * TVMFuncCall: classic code calls a handle that msd_ffi_lookup() returned. A returned
 * string, bytes or tensor lives until the next such call on this thread.
 */
int msd_classic_func_call(void *fn, union msd_classic_value *args, int *codes, int n,
			  union msd_classic_value *ret, int *ret_code);
/**
 * Return a list value to classic code, which passes it on. Objects are opaque to the
 * code and pass unchanged. Tensors pass in a form from which
 * msd_classic_take_object() restores the object.
 */
int msd_classic_put_object(const struct msd_any *v, union msd_classic_value *ret,
			   int *ret_code);
/** Convert a value that the code passes back; borrowed. */
int msd_classic_take_object(const union msd_classic_value *value, int code,
			    struct msd_any *ret);
/** TVMAPISetLastError */
void msd_classic_set_last_error(const char *message);

#endif
