/*
 * trivial.so: a library in the modern ABI (TVM 0.22 and later) whose functions do
 * nothing, so that a measurement shows only the round trip.
 *   noop()        nothing
 *   echo(i)       its int
 *   take(tensor)  ignores it: 1
 *   give(out)     leaves it unchanged
 *   swap(tensor)  ignores it: a tensor of 4 KiB, the same each time
 *   take0(tensor) to take15(tensor)  as take
 *   pair(a, b, c) adds a and b; its parameters are declared
 */
#include <stdint.h>

typedef struct {
	int32_t type; /* 0 none, 1 int, 7 and 70 tensor */
	uint32_t small_len;
	int64_t value;
} any;

/* Provided by the host. */
void TVMFFIErrorSetRaisedFromCStrParts(const char *kind, const char **parts, int32_t n);

static int refuse_arity(const char *signature)
{
	TVMFFIErrorSetRaisedFromCStrParts("TypeError", &signature, 1);
	return -1;
}

#define FUNCTION(name)                                                                 \
	__attribute__((visibility("default"))) int __tvm_ffi_##name(                   \
		void *self, const any *args, int32_t n_args, any *ret);                \
	int __tvm_ffi_##name(void *self __attribute__((unused)),                       \
			     const any *args __attribute__((unused)), int32_t n_args,  \
			     any *ret __attribute__((unused)))

FUNCTION(noop)
{
	return n_args == 0 ? 0 : refuse_arity("Expected 0 arguments: `noop()`");
}

FUNCTION(echo)
{
	if (n_args != 1)
		return refuse_arity("Expected 1 arguments: `echo(i: int64)`");
	*ret = args[0];
	return 0;
}

FUNCTION(take)
{
	if (n_args != 1)
		return refuse_arity("Expected 1 arguments: `take(x)`");
	*ret = (any){.type = 1, .value = 1};
	return 0;
}

FUNCTION(give)
{
	return n_args == 1 ? 0 : refuse_arity("Expected 1 arguments: `give(out)`");
}

/* Calls of several functions in turns find nothing that an earlier call has left. */
#define TAKE(number)                                                                   \
	FUNCTION(take##number)                                                         \
	{                                                                              \
		if (n_args != 1)                                                       \
			return refuse_arity("one tensor is wanted");                   \
		*ret = (any){.type = 1, .value = 1};                                   \
		return 0;                                                              \
	}

TAKE(0)
TAKE(1)
TAKE(2)
TAKE(3)
TAKE(4)
TAKE(5)
TAKE(6)
TAKE(7)
TAKE(8)
TAKE(9)
TAKE(10)
TAKE(11)
TAKE(12)
TAKE(13)
TAKE(14)
TAKE(15)

/* As DLPack has it; an object of the ABI has three words before it. */
struct tensor {
	float *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
};

static const struct tensor *tensor_of(const any *a)
{
	return (const void *)(uintptr_t)(a->type == 70 ? a->value + 24 : a->value);
}

FUNCTION(pair)
{
	if (n_args != 3) {
		return refuse_arity(
			"Expected 3 arguments: `pair(a: Tensor([n], float32), "
			"b: Tensor([n], float32), c: Tensor([n], float32))`");
	}
	const struct tensor *a = tensor_of(&args[0]), *b = tensor_of(&args[1]);
	const struct tensor *c = tensor_of(&args[2]);
	for (int64_t i = 0; i < a->shape[0]; i++)
		c->data[i] = a->data[i] + b->data[i];
	return 0;
}

static int64_t shape[] = {1024};
static float data[1024];

/* An object of the ABI: its counts, its type and its deleter, then a DLTensor. */
static struct {
	uint64_t count; /* low half strong, high half weak */
	int32_t type;
	uint32_t pad;
	void (*deleter)(void *self, int flags);
	void *data;
	int32_t device_type, device_id;
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} kept = {.count = 1 | (uint64_t)1 << 32, /* the library's own, never released */
	  .type = 70,
	  .data = data,
	  .device_type = 1,
	  .ndim = 1,
	  .code = 2,
	  .bits = 32,
	  .lanes = 1,
	  .shape = shape};

/* No signature: its tensor may be any, and the only input. */
FUNCTION(swap)
{
	if (n_args != 1)
		return refuse_arity("one tensor is wanted");
	(void)__atomic_add_fetch(&kept.count, 1, __ATOMIC_RELAXED);
	*ret = (any){.type = kept.type, .value = (intptr_t)&kept};
	return 0;
}
