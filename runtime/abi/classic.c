/*
 * Calls in the classic convention (TVM up to 0.20): converts arrays of values and
 * type codes to and from ours.
 *
 * Happy path: arguments are converted in place, without a copy. The return value is
 * moved, or copied if it points into the callee.
 */
#include "runtime/abi/classic.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/error.h"

#define INLINE_ARGS 16 /* calls with more arguments allocate */

/* TVMByteArray */
struct byte_array {
	const char *data;
	size_t size;
};

/* Convert one argument for the callee. @bytes is room for the descriptor of a small
 * byte string. */
static bool to_classic(const struct msd_any *v, union msd_classic_value *value,
		       int *code, struct byte_array *bytes)
{
	value->i = v->as.i;
	switch (v->type) {
	case MSD_T_NONE:
		*code = MSD_C_NULL;
		value->p = NULL;
		return true;
	case MSD_T_INT:
	case MSD_T_BOOL: /* 0.18+ has a code for bool, but also accepts ints */
		*code = MSD_C_INT;
		return true;
	case MSD_T_FLOAT:
		*code = MSD_C_FLOAT;
		return true;
	case MSD_T_POINTER:
		*code = MSD_C_HANDLE;
		return true;
	case MSD_T_DTYPE:
		*code = MSD_C_DTYPE;
		return true;
	case MSD_T_DEVICE:
		*code = MSD_C_DEVICE;
		return true;
	case MSD_T_DLTENSOR:
	case MSD_T_TENSOR:
		*code = MSD_C_DLTENSOR;
		value->p = msd_any_dltensor(v);
		return true;
	case MSD_T_RAW_STR:
		*code = MSD_C_STR;
		return true;
	case MSD_T_SMALL_STR:
		*code = MSD_C_STR;
		value->str = v->as.bytes;
		return true;
	case MSD_T_STR:
		*code = MSD_C_STR;
		value->str = ((const struct msd_str *)(void *)v->as.obj)->data;
		return true;
	case MSD_T_BYTE_ARRAY:
		*code = MSD_C_BYTES;
		return true;
	case MSD_T_SMALL_BYTES:
		*code = MSD_C_BYTES;
		*bytes = (struct byte_array){v->as.bytes, v->small};
		value->p = bytes;
		return true;
	case MSD_T_BYTES: {
		const struct msd_str *s = v->as.p;
		*code = MSD_C_BYTES;
		*bytes = (struct byte_array){s->data, s->size};
		value->p = bytes;
		return true;
	}
	case MSD_T_FUNCTION:
		*code = MSD_C_FUNCTION;
		return true;
	default:
		return false;
	}
}

static struct msd_tensor *tensor_of(void *dl)
{
	return (void *)((char *)dl - offsetof(struct msd_tensor, dl));
}

int msd_classic_put_object(const struct msd_any *v, union msd_classic_value *ret,
			   int *ret_code)
{
	if (v->type == MSD_T_TENSOR) {
		ret->p = msd_any_dltensor(v);
		*ret_code = MSD_C_NDARRAY;
	} else if (!to_classic(v, ret, ret_code, NULL)) {
		ret->p = v->as.obj;
		*ret_code = MSD_C_OBJECT;
	}
	return 0;
}

static bool from_classic(union msd_classic_value value, int code, struct msd_any *ret)
{
	*ret = (struct msd_any){.as.i = value.i};
	switch (code) {
	case MSD_C_INT:
		ret->type = MSD_T_INT;
		return true;
	case MSD_C_BOOL:
		ret->type = MSD_T_BOOL;
		return true;
	case MSD_C_FLOAT:
		ret->type = MSD_T_FLOAT;
		return true;
	case MSD_C_NULL:
		*ret = msd_none();
		return true;
	case MSD_C_HANDLE:
		ret->type = MSD_T_POINTER;
		return true;
	case MSD_C_DTYPE:
		*ret = (struct msd_any){.type = MSD_T_DTYPE, .as.dtype = value.dtype};
		return true;
	case MSD_C_DEVICE:
		ret->type = MSD_T_DEVICE;
		return true;
	case MSD_C_DLTENSOR:
		ret->type = MSD_T_DLTENSOR;
		return true;
	case MSD_C_NDARRAY: /* only put_object() produces this code */
		*ret = msd_of_obj(&tensor_of(value.p)->obj);
		return true;
	case MSD_C_OBJECT:
		*ret = msd_of_obj(value.p);
		return true;
	case MSD_C_STR:
		ret->type = MSD_T_RAW_STR;
		return true;
	case MSD_C_BYTES:
		ret->type = MSD_T_BYTE_ARRAY;
		return true;
	case MSD_C_FUNCTION:
		ret->type = MSD_T_FUNCTION;
		return true;
	default:
		return false;
	}
}

int msd_classic_take_object(const union msd_classic_value *value, int code,
			    struct msd_any *ret)
{
	return from_classic(*value, code, ret)
		       ? 0
		       : msd_abi_raise("TypeError", "a value of type code %d", code);
}

struct classic_args {
	union msd_classic_value *values;
	int *codes;
	struct byte_array *bytes;
};

static int enter(const struct msd_thunk *thunk, const struct msd_any *args, int32_t n,
		 struct classic_args a, msd_classic_step call, struct msd_any *ret)
{
	for (int32_t i = 0; i < n; i++) {
		if (!to_classic(&args[i], &a.values[i], &a.codes[i], &a.bytes[i])) {
			return msd_abi_raise_code(MSD_BAD_ARGUMENT,
						  "%s: argument %d: a %s cannot be "
						  "given to code of TVM 0.20 "
						  "and older",
						  thunk->fn.name, i,
						  msd_type_name(args[i].type));
		}
	}
	return call(thunk, a.values, a.codes, n, ret);
}

static int call_code(const struct msd_thunk *thunk, union msd_classic_value *values,
		     int *codes, int n, struct msd_any *ret)
{
	union msd_classic_value value = {.i = 0};
	msd_classic_code_fn code;
	int ret_code = MSD_C_NULL;
	struct msd_any borrowed;

	memcpy(&code, &thunk->code, sizeof(code));
	if (code(values, codes, n, &value, &ret_code, NULL) != 0)
		return -1;
	/* The callee keeps ownership of its return value: copy text and tensors while
	 * they exist. */
	if (!from_classic(value, ret_code, &borrowed) ||
	    borrowed.type >= MSD_T_OBJECT) {
		return msd_abi_raise("TypeError", "%s returned a value of type code %d",
				     thunk->fn.name, ret_code);
	}
	if (!msd_any_copy(&borrowed, ret)) {
		return msd_abi_raise_code(MSD_NOMEM, "%s: no memory for its result",
					  thunk->fn.name);
	}
	return 0;
}

int msd_classic_convert(const struct msd_thunk *thunk, const struct msd_any *args,
			int32_t n, msd_classic_step call, struct msd_any *ret)
{
	union msd_classic_value values[INLINE_ARGS];
	int codes[INLINE_ARGS];
	struct byte_array bytes[INLINE_ARGS];
	struct classic_args a = {values, codes, bytes};

	if (n <= INLINE_ARGS)
		return enter(thunk, args, n, a, call, ret);
	a.values = calloc((size_t)n,
			  sizeof(*a.values) + sizeof(*a.bytes) + sizeof(*a.codes));
	if (a.values == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "no memory for %d arguments", n);
	a.bytes = (struct byte_array *)(void *)(a.values + n);
	a.codes = (int *)(void *)(a.bytes + n);
	int rc = enter(thunk, args, n, a, call, ret);
	free(a.values);
	return rc;
}

int msd_classic_thunk(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	return msd_classic_convert(self, args, n, call_code, ret);
}

/* The last return value of the runtime to classic code, which borrows it. */
static _Thread_local struct {
	struct msd_any value;
	struct byte_array bytes;
} returned;

static int give_back(struct msd_any *result, union msd_classic_value *ret,
		     int *ret_code)
{
	msd_any_drop(&returned.value);
	returned.value = *result;
	if (result->type >= MSD_T_OBJECT &&
	    (result->type == MSD_T_TENSOR ||
	     !to_classic(&returned.value, ret, ret_code, &returned.bytes)))
		return msd_classic_put_object(&returned.value, ret, ret_code);
	if (!to_classic(&returned.value, ret, ret_code, &returned.bytes)) {
		return msd_abi_raise(
			"TypeError",
			"a %s cannot be returned to code of TVM 0.20 and older",
			msd_type_name(returned.value.type));
	}
	return 0;
}

int msd_classic_func_call(void *fn, union msd_classic_value *args, int *codes, int n,
			  union msd_classic_value *ret, int *ret_code)
{
	struct msd_any inline_args[INLINE_ARGS];
	struct msd_any *converted = inline_args;
	struct msd_any result = {0};
	struct msd_function *f = fn;
	int rc = 0;

	if (f == NULL || n < 0)
		return msd_abi_raise("InternalError", "bad call of a packed function");
	if (n > INLINE_ARGS) {
		converted = calloc((size_t)n, sizeof(*converted));
		if (converted == NULL) {
			return msd_abi_raise_code(MSD_NOMEM,
						  "no memory for %d arguments", n);
		}
	} else if (n == 0) {
		inline_args[0] = msd_none(); /* GCC 12 does not see that this value is
						never read */
	}
	for (int i = 0; rc == 0 && i < n; i++) {
		if (!from_classic(args[i], codes[i], &converted[i])) {
			rc = msd_abi_raise(
				"TypeError",
				"%s: argument %d has the type code %d, which "
				"needs TVM's own runtime",
				msd_function_name(f), i, codes[i]);
		}
	}
	if (rc == 0)
		rc = f->call(f, converted, n, &result);
	if (converted != inline_args)
		free(converted);
	return rc == 0 ? give_back(&result, ret, ret_code) : rc;
}

void msd_classic_set_last_error(const char *message)
{
	(void)msd_abi_raise_bytes(NULL, msd_span_of(message));
}
