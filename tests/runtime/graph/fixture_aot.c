/*
 * A library as TVM 0.9 to 0.19 leaves an ahead-of-time compiled model:
 *   sum = x + bias + constant, twice = 2 * sum
 * with `bias` among the inputs (the factory has it) and, with PLANNED, the constant and
 * a workspace as further arguments.
 */
#include <stdint.h>

typedef union {
	int64_t i;
	double f;
	void *p;
} value;
struct tensor {
	void *data;
	int32_t device[2];
	int32_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t *shape;
	int64_t *strides;
	uint64_t byte_offset;
};
struct tensor_info {
	const char *name;
	const int64_t *shape;
	int64_t ndim;
	uint8_t code, bits;
	uint16_t lanes;
};
struct constant_info {
	const char *name;
	int64_t offset, n;
	const void *data;
};
struct metadata {
	int64_t version;
	const struct tensor_info *inputs;
	int64_t n_inputs;
	const struct tensor_info *outputs;
	int64_t n_outputs;
	const struct tensor_info *pools;
	int64_t n_pools;
	const struct constant_info *constants;
	int64_t n_constants;
	const char *model;
};

void *__tvm_module_ctx;
void (*__TVMAPISetLastError)(const char *message);

__asm__(".section .rodata\n"
	".globl __tvm_dev_mblob\n"
	".type __tvm_dev_mblob, @object\n"
	"__tvm_dev_mblob:\n"
	".incbin \"" BLOB_FILE "\"\n"
	".size __tvm_dev_mblob, .-__tvm_dev_mblob\n"
	".previous\n");

static const int64_t three[] = {3};
static const int64_t pool_bytes[] = {256};
static const struct tensor_info inputs[] = {{"x", three, 1, 2, 32, 1},
					    {"bias", three, 1, 2, 32, 1}};
static const struct tensor_info outputs[] = {{"output0", three, 1, 2, 32, 1},
					     {"output1", three, 1, 2, 32, 1}};
static const struct tensor_info pools[] = {
	{"global_workspace", pool_bytes, 1, 1, 8, 1}};

/* A saved tensor of three float32: 1, 1, 1. */
static const struct __attribute__((packed)) {
	uint64_t magic, zero;
	int32_t device[2], ndim;
	uint8_t code, bits;
	uint16_t lanes;
	int64_t shape[1], bytes;
	float data[3];
} ones = {.magic = 0xDD5E40F096B4A13Full,
	  .device = {1, 0},
	  .ndim = 1,
	  .code = 2,
	  .bits = 32,
	  .lanes = 1,
	  .shape = {3},
	  .bytes = 12,
	  .data = {1, 1, 1}};
static const struct constant_info constants[] = {{"const0", 64, sizeof(ones), &ones}};

static const struct metadata meta = {
	.version = 1,
	.inputs = inputs,
	.n_inputs = 2,
	.outputs = outputs,
	.n_outputs = 2,
#ifdef PLANNED
	.pools = pools,
	.n_pools = 1,
	.constants = constants,
	.n_constants = 1,
#endif
	.model = "tvmgen_default",
};

int32_t get_c_metadata(value *args, int32_t *codes, int32_t n, value *ret,
		       int32_t *ret_code, void *resource);
int32_t get_c_metadata(value *args, int32_t *codes, int32_t n, value *ret,
		       int32_t *ret_code, void *resource)
{
	(void)args, (void)codes, (void)n, (void)resource;
	ret->p = (void *)(uintptr_t)&meta;
	*ret_code = 3;
	return 0;
}

int32_t tvmgen_default___tvm_main__(value *args, int32_t *codes, int32_t n, value *ret,
				    int32_t *ret_code, void *resource);
int32_t tvmgen_default___tvm_main__(value *args, int32_t *codes, int32_t n, value *ret,
				    int32_t *ret_code, void *resource)
{
	const int32_t want = meta.n_pools > 0 ? 6 : 4;
	static const float one[] = {1, 1, 1};
	const float *constant = one;
	float local[3];
	float *sum = local;

	(void)codes, (void)ret, (void)ret_code, (void)resource;
	(void)pools, (void)constants;
	if (n != want) {
		__TVMAPISetLastError("Assert fail: num_args");
		return -1;
	}
	if (meta.n_pools > 0) {
		const struct tensor *block = args[4].p;
		constant = (const float *)((const char *)block->data + 64);
		sum = ((const struct tensor *)args[5].p)->data;
	}
	for (int i = 0; i < 3; i++) {
		sum[i] = ((float *)((struct tensor *)args[0].p)->data)[i] +
			 ((float *)((struct tensor *)args[1].p)->data)[i] + constant[i];
		((float *)((struct tensor *)args[2].p)->data)[i] = sum[i];
		((float *)((struct tensor *)args[3].p)->data)[i] = 2 * sum[i];
	}
	return 0;
}
