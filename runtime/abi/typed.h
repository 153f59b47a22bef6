#ifndef MSD_RUNTIME_ABI_TYPED_H
#define MSD_RUNTIME_ABI_TYPED_H
/*
 * What code calls that was built with the C++ headers of tvm-ffi (0.22 and later)
 * rather than by TVM: functions exported there by TVM_FFI_DLL_EXPORT_TYPED_FUNC take
 * and give strings, ask for the names of types, and fail with error objects of their
 * own.
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
	const struct msd_typed_info *const
		*ancestors; /* depth of them, the root first */
	uint64_t key_hash;
	int32_t n_fields;
	int32_t n_methods;
	const void *fields;
	const void *methods;
	const void *metadata;
};

/** A string or bytes of its own with the contents of @in, small ones within the value:
 * 0, or -1 with the error raised. */
int msd_typed_str(const struct msd_typed_bytes *in, bool is_text, struct msd_any *ret);
/** Raise the kind and message of an error object, which is borrowed. */
void msd_typed_raise(const void *error);
/** What is known of a type; one that is not known is called "?", and has no ancestor.
 */
const struct msd_typed_info *msd_typed_info(int32_t type);
/** Nothing: where an error came from is of no use to who cannot see the code. */
const struct msd_typed_bytes *msd_typed_backtrace(void);

#endif
