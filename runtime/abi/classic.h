#ifndef MSD_RUNTIME_ABI_CLASSIC_H
#define MSD_RUNTIME_ABI_CLASSIC_H
/*
 * Calls of the classic era (TVM 0.6 - 0.20): values and type codes in two arrays. Both
 * directions convert to and from struct msd_any.
 */
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

/* 0.7+; a 0.6 function takes the first three and does not miss the rest. */
typedef int (*msd_classic_code_fn)(union msd_classic_value *args, int *codes, int n,
				   union msd_classic_value *ret, int *ret_code,
				   void *resource);

/* A library's function behind a calling convention that is not ours: fn.call converts
 * and enters @code. */
struct msd_thunk {
	struct msd_function fn;
	void *code;
};

/** msd_safe_call of a thunk (@self) whose code is a classic packed function. */
int msd_classic_thunk(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret);
/** TVMFuncCall: a handle that msd_ffi_lookup() gave, called by classic code. A returned
 * string, bytes or tensor lives until the next such call on this thread. */
int msd_classic_func_call(void *fn, union msd_classic_value *args, int *codes, int n,
			  union msd_classic_value *ret, int *ret_code);
/**
 * A value of a list for classic code, which passes it on: objects, which it cannot look
 * into, cross as they are, and tensors so that what is behind them comes back.
 */
int msd_classic_put_object(const struct msd_any *v, union msd_classic_value *ret,
			   int *ret_code);
/** What the code passes back; borrowed. */
int msd_classic_take_object(const union msd_classic_value *value, int code,
			    struct msd_any *ret);
/** TVMAPISetLastError */
void msd_classic_set_last_error(const char *message);

#endif
