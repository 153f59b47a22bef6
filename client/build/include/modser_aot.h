/*
 * Support code of `run`, the entry of an ahead-of-time model. `run` takes the inputs,
 * then the outputs, and checks them before the model's own function runs. `modser`
 * compiles it together with the archive's code; one call runs at a time.
 */
#ifndef MODSER_AOT_H
#define MODSER_AOT_H
#include <stdio.h>
#include <tvm/runtime/c_runtime_api.h>

/* Type codes that a model's function reads although the caller passes none: those of
 * the memory that it adds to its arguments. */
#define MODSER_SPARE_CODES 64
#define MODSER_ALIGN 128

static int modser_fail(const char *name, const char *what, long long n)
{
	char text[256];

	(void)snprintf(text, sizeof(text), "%s: %s %lld", name, what, n);
	TVMAPISetLastError(text);
	return -1;
}

/* Take one tensor: dense, on the host, of @want bytes; -1: any size. */
static int modser_take(TVMValue *args, int *codes, int i, long long want,
		       const char *name, void **ret, long long *total)
{
	const DLTensor *t = args[i].v_handle;
	long long bytes;

	if (codes[i] != kTVMDLTensorHandle && codes[i] != kTVMNDArrayHandle)
		return modser_fail(name, "expected a tensor, got type code", codes[i]);
	if (t->device.device_type != kDLCPU)
		return modser_fail(name, "expected a tensor of the host, got device",
				   t->device.device_type);
	bytes = (t->dtype.bits + 7) / 8 * t->dtype.lanes;
	for (int k = t->ndim - 1; k >= 0; k--)
		bytes *= t->shape[k];
	if (want >= 0 && bytes != want)
		return modser_fail(name, "another size; expected in bytes:", want);
	*total += bytes;
	*ret = (char *)t->data + t->byte_offset;
	return 0;
}

static int modser_count(int n, long long want)
{
	return n == want ? 0
			 : modser_fail("give its inputs, then its outputs (out:)",
				       "number of tensors:", want);
}

static int modser_call(TVMBackendPackedCFunc function, TVMValue *args, int n,
		       TVMValue *ret, int *ret_code, void *self)
{
	int codes[n + MODSER_SPARE_CODES];

	for (int i = 0; i < n + MODSER_SPARE_CODES; i++)
		codes[i] = kTVMDLTensorHandle;
	return function(args, codes, n, ret, ret_code, self);
}

static long long modser_bytes_of(const struct TVMTensorInfo *info)
{
	long long bytes = (info->dtype.bits + 7) / 8 * info->dtype.lanes;

	for (int64_t k = 0; k < info->num_shape; k++)
		bytes *= info->shape[k];
	return bytes;
}

/* Layout of a saved tensor: 24 bytes, rank, dtype, extents, number of bytes, bytes. */
static const char *modser_saved(const struct TVMConstantInfo *k, int64_t *ret_n)
{
	const char *p = k->data_bytes;
	int32_t rank;

	(void)memcpy(&rank, p + 24, sizeof(rank));
	p += 32 + 8 * (size_t)rank;
	(void)memcpy(ret_n, p, sizeof(*ret_n));
	return p + 8;
}

static DLTensor *modser_block(size_t bytes)
{
	DLTensor *t = calloc(1, sizeof(*t) + sizeof(int64_t));

	if (t == NULL)
		return NULL;
	*t = (DLTensor){.device = {kDLCPU, 0}, .ndim = 1, .dtype = {kDLUInt, 8, 1}};
	t->shape = (int64_t *)(t + 1);
	t->shape[0] = (int64_t)bytes;
	t->data =
		aligned_alloc(MODSER_ALIGN, (bytes / MODSER_ALIGN + 1) * MODSER_ALIGN);
	return t->data != NULL ? t : NULL;
}

/* All constants in one block, each at its offset. */
static DLTensor *modser_constants(const struct TVMMetadata *meta)
{
	size_t end = 0;
	int64_t n;

	for (int64_t i = 0; i < meta->num_constant_pools; i++) {
		const struct TVMConstantInfo *k = &meta->constant_pools[i];
		(void)modser_saved(k, &n);
		if (end < (size_t)(k->byte_offset + n))
			end = (size_t)(k->byte_offset + n);
	}
	DLTensor *t = modser_block(end);
	for (int64_t i = 0; t != NULL && i < meta->num_constant_pools; i++) {
		const struct TVMConstantInfo *k = &meta->constant_pools[i];
		const char *data = modser_saved(k, &n);
		(void)memcpy((char *)t->data + k->byte_offset, data, (size_t)n);
	}
	return t;
}

/* Plan memory that stays allocated: constants if there are any, then workspaces. */
static int modser_plan(const struct TVMMetadata *meta, TVMValue *at, int *ret_n)
{
	static TVMValue made[1 + MODSER_SPARE_CODES];
	static int n_made = -1;
	int n = 0;

	if (meta->num_workspace_pools > MODSER_SPARE_CODES - 1)
		return modser_fail("workspaces",
				   "too many:", (long long)meta->num_workspace_pools);
	if (n_made < 0) {
		if (meta->num_constant_pools > 0 &&
		    (made[n++].v_handle = modser_constants(meta)) == NULL)
			return modser_fail("constants", "out of memory", 0);
		for (int64_t i = 0; i < meta->num_workspace_pools; i++) {
			const long long bytes =
				modser_bytes_of(&meta->workspace_pools[i]);
			made[n].v_handle = modser_block((size_t)bytes);
			if (made[n++].v_handle == NULL)
				return modser_fail("workspace", "out of memory for",
						   bytes);
		}
		n_made = n;
	}
	(void)memcpy(at, made, (size_t)n_made * sizeof(*made));
	*ret_n = n_made;
	return 0;
}

/* Call @function with the parameters that @get describes. @is_main: it takes the
 * planned memory, too. */
static int modser_call_described(TVMBackendPackedCFunc function,
				 TVMBackendPackedCFunc get, int is_main, TVMValue *args,
				 int *codes, int n, TVMValue *ret, int *ret_code,
				 void *self)
{
	TVMValue all[n + MODSER_SPARE_CODES];
	TVMValue found = {0};
	long long total = 0;
	int n_planned = 0;
	int code = 0;
	void *data;

	if (get(args, codes, 0, &found, &code, NULL) != 0)
		return -1;
	const struct TVMMetadata *meta = found.v_handle;
	int error = modser_count(n, meta->num_inputs + meta->num_outputs);
	for (int i = 0; error == 0 && i < n; i++) {
		const struct TVMTensorInfo *info =
			i < meta->num_inputs ? &meta->inputs[i]
					     : &meta->outputs[i - meta->num_inputs];
		error = modser_take(args, codes, i, modser_bytes_of(info), info->name,
				    &data, &total);
	}
	if (error == 0 && is_main)
		error = modser_plan(meta, all + n, &n_planned);
	if (error != 0)
		return error;
	(void)memcpy(all, args, (size_t)n * sizeof(*all));
	return modser_call(function, all, n + n_planned, ret, ret_code, self);
}

#endif
