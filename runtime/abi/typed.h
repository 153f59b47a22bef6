#ifndef MSD_RUNTIME_ABI_TYPED_H
#define MSD_RUNTIME_ABI_TYPED_H
/*
 * Functions called by code that was built with the C++ headers of tvm-ffi (0.22 and
 * later) rather than by TVM. Its exports (TVM_FFI_DLL_EXPORT_TYPED_FUNC) take and
 * return strings, ask for type names, and fail with their own error objects.
 */
#include "runtime/value/value.h"

/* TVMFFIByteArray. */
struct msd_typed_bytes {
	const char *data;
	size_t size;
};

/* TVMFFITypeInfo; the reflection part stays empty. */
struct msd_typed_info {
	int32_t type;
	int32_t depth;
	struct msd_typed_bytes key;
	const struct msd_typed_info *const *ancestors; /* @depth entries, root first */
	uint64_t key_hash;
	int32_t n_fields;
	int32_t n_methods;
	const void *fields;
	const void *methods;
	const void *metadata;
};

/**
 * Create an owned string or bytes value with the contents of @in; small ones are
 * stored in the value. Returns 0, or -1 with the error raised.
 */
int msd_typed_str(const struct msd_typed_bytes *in, bool is_text, struct msd_any *ret);
/** Raise an error with the kind and message of an error object, which is borrowed. */
void msd_typed_raise(const void *error);
/** Information about a type; an unknown type has the name "?" and no ancestor. */
const struct msd_typed_info *msd_typed_info(int32_t type);
/** Empty: a backtrace is useless to a client that cannot see the code. */
const struct msd_typed_bytes *msd_typed_backtrace(void);

#endif
