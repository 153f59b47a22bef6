/*
 * The library around a blob of relax_blob: addone(A, B) as compiled code of that era
 * has it. -DERA_CLASSIC, -DERA_021, or neither (0.22 and later); BLOB_FILE is embedded.
 */
#include "../../artifact/embed.h"
#include "../fixture.h"

static int add(const struct tensor *a, const struct tensor *b)
{
	if (a->shape[0] != b->shape[0] || a->code != 2 || a->byte_offset != 0)
		return -1;
	for (int64_t i = 0; i < a->shape[0]; i++)
		((float *)b->data)[i] = ((float *)a->data)[i] + 1;
	return 0;
}

#if defined(ERA_CLASSIC)
EMBED(__tvm_dev_mblob);
WEAK_SLOT void *__tvm_module_ctx;
int addone(union value *args, int *codes, int n, union value *ret, int *ret_code,
	   void *resource);
int addone(union value *args, int *codes, int n, union value *ret, int *ret_code,
	   void *resource)
{
	(void)codes;
	(void)ret;
	(void)ret_code;
	(void)resource;
	return n == 2 ? add(args[0].p, args[1].p) : -1;
}
#elif defined(ERA_021)
EMBED(__tvm_ffi_library_bin);
WEAK_SLOT void *__tvm_ffi_library_ctx;
int addone(void *self, const struct any *args, int32_t n, struct any *ret);
int addone(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)ret;
	/* An object of ours would be read wrongly here: plain DLTensors alone. */
	if (n != 2 || args[0].type != T_DLTENSOR || args[1].type != T_DLTENSOR)
		return -1;
	return add(args[0].v.p, args[1].v.p);
}
#else
EMBED(__tvm_ffi__library_bin);
int __tvm_ffi_addone(void *self, const struct any *args, int32_t n, struct any *ret);
int __tvm_ffi_addone(void *self, const struct any *args, int32_t n, struct any *ret)
{
	(void)self;
	(void)ret;
	return n == 2 ? add(tensor_of(&args[0]), tensor_of(&args[1])) : -1;
}
#endif
