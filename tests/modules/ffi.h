#ifndef MSD_TESTS_MODULES_FFI_H
#define MSD_TESTS_MODULES_FFI_H
/*
 * What a modern library (TVM 0.22 and later) sees of its host, written down once more
 * from the layouts and not from runtime/: the zoo's libraries stand on the other side
 * of the ABI.
 */
#include <stdint.h>

enum {
	T_NONE = 0,
	T_INT = 1,
	T_BOOL = 2,
	T_FLOAT = 3,
	T_DTYPE = 5,
	T_DEVICE = 6,
	T_DLTENSOR = 7,
	T_SMALL_STR = 11,
	T_STR = 65,
	T_BYTES = 66,
	T_SHAPE = 69,
	T_TENSOR = 70,
	T_ARRAY = 71,
};

typedef struct {
	int32_t type;
	uint32_t small_len; /* T_SMALL_STR: its length; else 0 */
	union {
		int64_t i;
		double f;
		void *p;
		char small[8];
		struct {
			uint8_t code, bits;
			uint16_t lanes;
		} dtype;
		struct {
			int32_t type, id;
		} device;
	} v;
} any;

typedef struct {
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} dltensor;

typedef struct {
	uint64_t count; /* low half strong, high half weak */
	int32_t type;
	uint32_t pad;
	void (*deleter)(void *self, int flags);
} object;

#define EXPORT __attribute__((visibility("default")))
/* Provided by the host. */
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t n);

static inline int fail(const char *kind, const char *text)
{
	TVMFFIErrorSetRaisedFromCStrParts(kind, &text, 1);
	return -1;
}

/*
 * RAW_FUNCTION(name): the definition of the packed function `name`.
 * FUNCTION(name): the same behind the check of the arguments' number that TVM
 * generates: a host may call with -1 of them to ask for the signature, and nothing else
 * happens.
 */
#define UNUSED __attribute__((unused))
#define PARAMS                                                                         \
	void *self UNUSED, const any *args UNUSED, int32_t n UNUSED, any *ret UNUSED
#define RAW_FUNCTION(name)                                                             \
	EXPORT int __tvm_ffi_##name(PARAMS);                                           \
	int __tvm_ffi_##name(PARAMS)
#define FUNCTION(name)                                                                 \
	static int do_##name(PARAMS);                                                  \
	RAW_FUNCTION(name)                                                             \
	{                                                                              \
		return n < 0 ? fail("TypeError", "wrong number of arguments: " #name)  \
			     : do_##name(self, args, n, ret);                          \
	}                                                                              \
	static int do_##name(PARAMS)

#endif
