/* The functions of tvm-ffi's C API that code built with its headers calls. As in
 * exports.c, the work is done elsewhere. */
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/exports.h"
#include "runtime/abi/slots.h"
#include "runtime/value/big_int.h"
#include "runtime/value/function.h"
#include "runtime/value/registry.h"

/* As 0.1.15.post2 says of itself, whose functions and layouts are provided here. */
#define FFI_MAJOR 0u
#define FFI_MINOR 1u
#define FFI_PATCH 16u
#define MAX_NAME 4096u /* bytes of a registered name */

static struct msd_span span_of(const struct msd_bytes *b)
{
	return (struct msd_span){(const uint8_t *)b->data, b->size};
}

static int give(void *obj, void **ret)
{
	if (obj == NULL)
		return msd_abi_no_memory();
	*ret = obj;
	return 0;
}

void TVMFFIGetVersion(struct msd_ffi_version *ret)
{
	*ret = (struct msd_ffi_version){FFI_MAJOR, FFI_MINOR, FFI_PATCH};
}

/* The room before an object: its last 8 bytes are the function that frees it. */
#define BEFORE_OBJECT _Alignof(max_align_t)

static void free_object(void *obj)
{
	free((char *)obj - BEFORE_OBJECT);
}

static void *allocate_object(size_t n_bytes, size_t align, int32_t type, void *ctx)
{
	void (*const end)(void *) = free_object;
	char *p = NULL;
	size_t n;

	(void)type, (void)ctx;
	if (align <= BEFORE_OBJECT && msd_add_size(n_bytes, BEFORE_OBJECT, &n))
		p = malloc(n);
	if (p == NULL) {
		(void)msd_abi_no_memory();
		return NULL;
	}
	memcpy(p + BEFORE_OBJECT - sizeof(end), &end, sizeof(end));
	return p + BEFORE_OBJECT;
}

static struct msd_ffi_allocator own_allocator = {allocate_object, NULL};
static struct msd_ffi_allocator *allocator = &own_allocator;

struct msd_ffi_allocator *TVMFFIGetCustomAllocator(void)
{
	return __atomic_load_n(&allocator, __ATOMIC_ACQUIRE);
}

int TVMFFISetCustomAllocator(struct msd_ffi_allocator *given)
{
	__atomic_store_n(&allocator, given != NULL ? given : &own_allocator,
			 __ATOMIC_RELEASE);
	return 0;
}

int TVMFFIHandleDeinitOnce(void **handle, int (*deinit)(void *handle))
{
	void *old = __atomic_exchange_n(handle, NULL, __ATOMIC_ACQ_REL);

	return old != NULL ? deinit(old) : 0;
}

int TVMFFIObjectIncRef(void *obj)
{
	msd_obj_ref(obj);
	return 0;
}

int TVMFFIObjectDecRef(void *obj)
{
	msd_obj_unref(obj);
	return 0;
}

struct opaque {
	struct msd_obj obj;
	void *handle;
	void (*end)(void *handle);
};

static void opaque_delete(void *self, int flags)
{
	struct opaque *o = self;

	if ((flags & MSD_STRONG_GONE) != 0 && o->end != NULL)
		o->end(o->handle);
	if ((flags & MSD_WEAK_GONE) != 0)
		free(o);
}

int TVMFFIObjectCreateOpaque(void *handle, int32_t type, void (*deleter)(void *handle),
			     void **ret)
{
	struct opaque *o;

	if (type != MSD_T_OPAQUE) {
		return msd_abi_raise("RuntimeError",
				     "Only kTVMFFIOpaquePyObject is supported for now");
	}
	o = malloc(sizeof(*o));
	if (o == NULL)
		return msd_abi_no_memory();
	msd_obj_init(&o->obj, type, opaque_delete);
	o->handle = handle;
	o->end = deleter;
	*ret = o;
	return 0;
}

int TVMFFIAnyViewToOwnedAny(const struct msd_any *v, struct msd_any *ret)
{
	return msd_any_copy(v, ret) ? 0 : msd_abi_no_memory();
}

int TVMFFIStringFromByteArray(const struct msd_bytes *in, struct msd_any *ret)
{
	return msd_any_text(span_of(in), true, ret) ? 0 : msd_abi_no_memory();
}

int TVMFFIBytesFromByteArray(const struct msd_bytes *in, struct msd_any *ret)
{
	return msd_any_text(span_of(in), false, ret) ? 0 : msd_abi_no_memory();
}

int TVMFFIDataTypeFromString(const struct msd_bytes *name, struct msd_dtype *ret)
{
	if (msd_dtype_parse(name->data, name->size, ret))
		return 0;
	return msd_abi_raise("ValueError", "unknown dtype `%.*s`",
			     (int)(name->size < MAX_NAME ? name->size : MAX_NAME),
			     name->data);
}

int TVMFFIDataTypeToString(const struct msd_dtype *dtype, struct msd_any *ret)
{
	char name[MSD_DTYPE_NAME_MAX];

	return msd_any_text(msd_span_of(msd_dtype_format(*dtype, name)), true, ret)
		       ? 0
		       : msd_abi_no_memory();
}

int TVMFFIBigIntFromByteArray(const struct msd_bytes *words, struct msd_any *ret)
{
	return msd_big_int_new(words, ret);
}

struct msd_bytes TVMFFIBigIntGetContentByteArray(const struct msd_any *v)
{
	return msd_big_int_words(v);
}

void TVMFFIErrorSetRaised(void *error)
{
	if (error != NULL)
		msd_obj_ref(error);
	msd_abi_attach(error);
}

void TVMFFIErrorMoveFromRaised(void **ret)
{
	*ret = msd_abi_detach();
}

int TVMFFIErrorCreate(const struct msd_bytes *kind, const struct msd_bytes *message,
		      const struct msd_bytes *backtrace, void **ret)
{
	return TVMFFIErrorCreateWithCauseAndExtraContext(kind, message, backtrace, NULL,
							 NULL, ret);
}

/* By its contract it raises nothing. */
int TVMFFIErrorCreateWithCauseAndExtraContext(const struct msd_bytes *kind,
					      const struct msd_bytes *message,
					      const struct msd_bytes *backtrace,
					      void *cause, void *context, void **ret)
{
	struct msd_error *e = msd_error_new(span_of(kind), span_of(message));

	if (e == NULL)
		return -1;
	if (backtrace->size > 0)
		e->update_backtrace(e, backtrace, 0);
	e->cause = cause;
	e->context = context;
	if (cause != NULL)
		msd_obj_ref(cause);
	if (context != NULL)
		msd_obj_ref(context);
	*ret = e;
	return 0;
}

/* Empty: a backtrace is useless to a client that cannot see the code. */
const struct msd_bytes *TVMFFIBacktrace(const char *file, int line,
					const char *function, int crosses)
{
	static const struct msd_bytes nothing = {"", 0};

	(void)file, (void)line, (void)function, (void)crosses;
	return &nothing;
}

int TVMFFIFunctionCreate(void *self, msd_safe_call call, void (*deleter)(void *self),
			 void **ret)
{
	return give(msd_function_new(self, call, deleter), ret);
}

int TVMFFIFunctionGetGlobal(const struct msd_bytes *name, void **ret)
{
	struct msd_function *fn = msd_registry_find(span_of(name));

	if (fn != NULL)
		msd_obj_ref(&fn->obj);
	*ret = fn;
	return 0;
}

int TVMFFIFunctionSetGlobal(const struct msd_bytes *name, void *fn, int may_replace)
{
	if (name->size == 0 || name->size > MAX_NAME) {
		return msd_abi_raise("ValueError",
				     "a function's name has 1 to %u bytes", MAX_NAME);
	}
	return msd_registry_set(
		span_of(name), fn,
		MSD_REGISTERED_FOR_CLIENTS |
			(may_replace != 0 ? MSD_REGISTERED_MAY_REPLACE : 0));
}

int TVMFFIFunctionSetGlobalFromMethodInfo(const struct msd_method_info *info,
					  int may_replace)
{
	if (info->method.type != MSD_T_FUNCTION) {
		return msd_abi_raise("TypeError", "a registered method is no function");
	}
	return TVMFFIFunctionSetGlobal(&info->name, info->method.as.p, may_replace);
}

int32_t TVMFFITypeGetOrAllocIndex(const struct msd_bytes *key, int32_t index,
				  int32_t depth, int32_t n_children,
				  int32_t may_overflow, int32_t parent)
{
	return msd_type_register(
		&(struct msd_type_request){.key = *key,
					   .index = index,
					   .depth = depth,
					   .n_children = n_children,
					   .may_overflow = may_overflow != 0,
					   .parent = parent});
}

int TVMFFITypeKeyToIndex(const struct msd_bytes *key, int32_t *ret)
{
	return msd_type_find(key, ret);
}

const struct msd_type_info *TVMFFIGetTypeInfo(int32_t type)
{
	return msd_type_info(type);
}

int TVMFFITypeRegisterField(int32_t type, const struct msd_field_info *info)
{
	return msd_type_add_field(type, info);
}

int TVMFFITypeRegisterMethod(int32_t type, const struct msd_method_info *info)
{
	return msd_type_add_method(type, info);
}

int TVMFFITypeRegisterMetadata(int32_t type, const struct msd_type_metadata *metadata)
{
	return msd_type_set_metadata(type, metadata);
}

int TVMFFITypeRegisterAttr(int32_t type, const struct msd_bytes *name,
			   const struct msd_any *value)
{
	return msd_type_set_attribute(type, name, value);
}

const struct msd_type_column *TVMFFIGetTypeAttrColumn(const struct msd_bytes *name)
{
	return msd_type_column(name);
}

int TVMFFITensorFromDLPack(struct msd_dlpack_old *from, int32_t align,
			   int32_t must_be_compact, void **ret)
{
	return msd_tensors_from_old(from, align, must_be_compact != 0, ret);
}

int TVMFFITensorToDLPack(void *tensor, struct msd_dlpack_old **ret)
{
	return msd_tensors_to_old(tensor, ret);
}

int TVMFFITensorFromDLPackVersioned(struct msd_dlpack *from, int32_t align,
				    int32_t must_be_compact, void **ret)
{
	return msd_tensors_from(from, align, must_be_compact != 0, ret);
}

int TVMFFITensorToDLPackVersioned(void *tensor, struct msd_dlpack **ret)
{
	return msd_tensors_to(tensor, ret);
}

int TVMFFITensorCreateUnsafeView(void *source, const struct msd_dltensor *t, void **ret)
{
	return msd_tensors_view(source, t, ret);
}

int TVMFFIEnvTensorAlloc(struct msd_dltensor *prototype, void **ret)
{
	return msd_tensors_alloc(prototype, ret);
}

int TVMFFIEnvSetDLPackManagedTensorAllocator(msd_dlpack_alloc alloc, int is_global,
					     msd_dlpack_alloc *ret_before)
{
	msd_tensors_set_allocator(alloc, is_global != 0, ret_before);
	return 0;
}

msd_dlpack_alloc TVMFFIEnvGetDLPackManagedTensorAllocator(void)
{
	return msd_tensors_allocator();
}

/* A worker has no interpreter whose signals could wait. */
int TVMFFIEnvCheckSignals(void)
{
	return 0;
}

int TVMFFIEnvRegisterCAPI(const char *name, void *symbol)
{
	(void)symbol;
	if (strcmp(name, "PyErr_CheckSignals") == 0 ||
	    strcmp(name, "PyGILState_Ensure") == 0 ||
	    strcmp(name, "PyGILState_Release") == 0)
		return 0;
	return msd_abi_raise("ValueError", "Unknown env API %s", name);
}

int TVMFFIEnvModRegisterContextSymbol(const char *name, void *symbol)
{
	return msd_slot_register(name, symbol);
}
