#include "runtime/abi/ffi021.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/classic.h"
#include "runtime/abi/ffi.h"
#include "runtime/value/error.h"

#define INLINE_ARGS 16

/* TVMFFIByteArray */
struct byte_array {
	const char *data;
	size_t size;
};

/* Convert one argument for the callee. @bytes is room for the descriptor of a byte
 * string. */
static bool to_021(const struct msd_any *v, struct msd_any *out,
		   struct byte_array *bytes)
{
	const struct msd_str *s = v->as.p;

	*out = *v;
	switch (v->type) {
	case MSD_T_TENSOR:
		*out = (struct msd_any){.type = MSD_T_DLTENSOR,
					.as.dl = msd_any_dltensor(v)};
		return true;
	case MSD_T_SMALL_STR:
		*out = (struct msd_any){.type = MSD_T_RAW_STR, .as.str = v->as.bytes};
		return true;
	case MSD_T_STR:
		*out = (struct msd_any){.type = MSD_T_RAW_STR, .as.str = s->data};
		return true;
	case MSD_T_SMALL_BYTES:
		*bytes = (struct byte_array){v->as.bytes, v->small};
		*out = (struct msd_any){.type = MSD_T_BYTE_ARRAY, .as.p = bytes};
		return true;
	case MSD_T_BYTES:
		*bytes = (struct byte_array){s->data, s->size};
		*out = (struct msd_any){.type = MSD_T_BYTE_ARRAY, .as.p = bytes};
		return true;
	default:
		return v->type < MSD_T_OBJECT;
	}
}

static int enter(const struct msd_thunk *thunk, const struct msd_any *args, int32_t n,
		 struct msd_any *converted, struct byte_array *bytes,
		 struct msd_any *ret)
{
	msd_safe_call code;
	struct msd_any result = {0};

	for (int32_t i = 0; i < n; i++) {
		if (!to_021(&args[i], &converted[i], &bytes[i])) {
			return msd_abi_raise_code(MSD_BAD_ARGUMENT,
						  "%s: argument %d: a %s cannot be "
						  "given to code of TVM 0.21",
						  thunk->fn.name, i,
						  msd_type_name(args[i].type));
		}
	}
	memcpy(&code, &thunk->code, sizeof(code));
	int rc = code(NULL, converted, n, &result);
	if (rc != 0)
		return rc;
	if (result.type >= MSD_T_OBJECT) {
		return msd_abi_raise("TypeError",
				     "%s returned an object of TVM 0.21 (type %d)",
				     thunk->fn.name, result.type);
	}
	if (!msd_any_copy(&result, ret)) {
		return msd_abi_raise_code(MSD_NOMEM, "%s: no memory for its result",
					  thunk->fn.name);
	}
	return 0;
}

int msd_ffi021_thunk(void *self, const struct msd_any *args, int32_t n,
		     struct msd_any *ret)
{
	struct msd_any inline_args[INLINE_ARGS];
	struct byte_array inline_bytes[INLINE_ARGS];

	if (n <= INLINE_ARGS)
		return enter(self, args, n, inline_args, inline_bytes, ret);
	struct msd_any *converted =
		calloc((size_t)n, sizeof(*converted) + sizeof(struct byte_array));
	if (converted == NULL)
		return msd_abi_raise_code(MSD_NOMEM, "no memory for %d arguments", n);
	int rc = enter(self, args, n, converted, (void *)(converted + n), ret);
	free(converted);
	return rc;
}

/* In 0.21 a tensor starts 16 bytes after the object, in ours 24. */
#define TENSOR_021 72
#define SHIFT 8

_Static_assert(offsetof(struct msd_tensor, dl) == 16 + SHIFT, "0.21's header");

void msd_ffi021_put_object(struct msd_any *v)
{
	if (v->type == MSD_T_TENSOR) {
		*v = (struct msd_any){.type = TENSOR_021,
				      .as.p = (char *)v->as.p + SHIFT};
	}
}

void msd_ffi021_take_object(struct msd_any *v)
{
	if (v->type == TENSOR_021) {
		*v = (struct msd_any){.type = MSD_T_TENSOR,
				      .as.p = (char *)v->as.p - SHIFT};
	}
}

int msd_ffi021_function_call(void *fn, const struct msd_any *args, int32_t n,
			     struct msd_any *ret)
{
	struct msd_any inline_args[INLINE_ARGS] = {{0}};
	struct msd_any *converted = inline_args;

	if (n > INLINE_ARGS) {
		converted = calloc((size_t)n, sizeof(*converted));
		if (converted == NULL) {
			return msd_abi_raise_code(MSD_NOMEM,
						  "no memory for %d arguments", n);
		}
	}
	for (int32_t i = 0; i < n; i++) {
		converted[i] = args[i];
		msd_ffi021_take_object(&converted[i]);
	}
	int rc = msd_ffi_function_call(fn, converted, n, ret);
	if (rc == 0)
		msd_ffi021_put_object(ret);
	if (converted != inline_args)
		free(converted);
	return rc;
}
