#ifndef MSD_RUNTIME_VALUE_VALUE_H
#define MSD_RUNTIME_VALUE_VALUE_H
/*
 * Values and objects of the runtime. A value has exactly the layout of tvm-ffi's
 * TVMFFIAny and an object that of TVMFFIObject (0.22 - 0.27), so code compiled by TVM
 * accepts ours unchanged. The DLTensor of a tensor object is at +24, and so is a
 * string's {data, size}. No TVM library is linked; only the layouts are shared. The
 * classic ABI and 0.21 are served by converting at the call (runtime/abi).
 *
 * Ownership: a value in an argument array is borrowed for the call. A value returned
 * or stored owns one reference; drop it with msd_any_drop(). References are atomic.
 */
#include <stddef.h>
#include <stdint.h>

#include "proto/base/bytes.h"
#include "proto/dtype.h"
#include "runtime/value/dltensor.h"

enum msd_type {
	MSD_T_NONE = 0,
	MSD_T_INT = 1,
	MSD_T_BOOL = 2,
	MSD_T_FLOAT = 3,
	MSD_T_POINTER = 4,
	MSD_T_DTYPE = 5,
	MSD_T_DEVICE = 6,
	MSD_T_DLTENSOR = 7, /* borrowed DLTensor *, arguments only */
	MSD_T_RAW_STR = 8,  /* NUL-terminated, arguments only */
	MSD_T_BYTE_ARRAY = 9,
	MSD_T_RVALUE =
		10, /* address of a reference that may be moved, arguments only */
	MSD_T_SMALL_STR = 11, /* <= 7 bytes in the value itself */
	MSD_T_SMALL_BYTES = 12,
	MSD_T_OBJECT = 64, /* from here on: reference-counted objects */
	MSD_T_STR = 65,
	MSD_T_BYTES = 66,
	MSD_T_ERROR = 67,
	MSD_T_FUNCTION = 68,
	MSD_T_SHAPE = 69,
	MSD_T_TENSOR = 70,
	MSD_T_ARRAY = 71,
	MSD_T_MAP = 72,
	MSD_T_MODULE = 73,
	MSD_T_OPAQUE = 74, /* an object of another language's runtime */
	MSD_T_LIST = 75,   /* an array that its holders may change */
	MSD_T_DICT = 76,   /* a map that its holders may change */
	MSD_T_INTERRUPT = 77,
	MSD_T_BIG_INT = 78,
	MSD_T_DYNAMIC = 128, /* from here on: types that are registered by name
				(runtime/value/types.h) */
	/* Only ours; generated code just passes them on. */
	MSD_T_STORAGE = 128,
	MSD_T_CLOSURE = 129, /* of the relay VM */
	MSD_T_FIRST_FREE = 130,
};

struct msd_obj;
struct msd_any {
	int32_t type;   /* enum msd_type; foreign objects may have other values */
	uint32_t small; /* length of a small string, else 0 */
	union {
		int64_t i;
		double f;
		void *p;
		const char *str;
		struct msd_dtype dtype;
		struct msd_device device;
		struct msd_obj *obj;
		struct msd_dltensor *dl;
		char bytes[8];
	} as;
};
_Static_assert(sizeof(struct msd_any) == 16, "TVMFFIAny");

/* A deleter ends the object's contents, frees its memory, or both. */
enum { MSD_STRONG_GONE = 1, MSD_WEAK_GONE = 2 };
/* One strong reference. All strong ones together hold one weak reference. */
#define MSD_FRESH_COUNTS (((uint64_t)1 << 32) | 1)

struct msd_obj {
	uint64_t counts; /* low 32 bits strong, high 32 weak; atomic */
	int32_t type;
	uint32_t pad;
	void (*deleter)(void *self, int flags); /* NULL: never freed */
};
_Static_assert(sizeof(struct msd_obj) == 24, "TVMFFIObject");

struct msd_str { /* MSD_T_STR, MSD_T_BYTES; NUL after the data */
	struct msd_obj obj;
	const char *data;
	size_t size;
};
struct msd_shape {
	struct msd_obj obj;
	const int64_t *dim;
	size_t ndim;
};
struct msd_tensor {
	struct msd_obj obj;
	struct msd_dltensor dl;
	struct msd_obj *owner; /* owner of dl.data: a storage, or NULL */
	void (*release)(
		void *ctx,
		void *data); /* called once when the tensor is freed; optional */
	void *release_ctx;
	/* The memory belongs to a call. A library may keep the tensor for longer. */
	enum msd_lent { MSD_LENT_NOT, MSD_LENT_IN, MSD_LENT_OUT } lent;
	int64_t shape[]; /* dl.shape points here */
};
struct msd_array { /* tuples: MSD_T_ARRAY, and MSD_T_LIST */
	struct msd_obj obj;
	struct msd_any *items;
	int64_t size;
	int64_t capacity;
	void (*data_deleter)(void *);
	struct msd_any inline_items[];
};
struct msd_storage { /* a block of device memory; tensors are views of it */
	struct msd_obj obj;
	void *data;
	size_t bytes;
	struct msd_device device;
};

/* 0 = ok, -1 = error stored for the thread (runtime/value/error.h). @ret is None on
 * entry. */
typedef int (*msd_safe_call)(void *self, const struct msd_any *args, int32_t n,
			     struct msd_any *ret);

/*
 * A callable: a library's function, a builtin, a VM function. It has
 * TVMFFIFunctionObj's layout, followed by our fields. Compiled code caches pointers
 * to these as handles; they must live as long as the library is mapped.
 */
#define MSD_FUNCTION_MARK 0x4d736446u /* in obj.pad: the function has our fields */
struct msd_function {
	struct msd_obj obj;
	msd_safe_call call;
	void *cpp_call; /* always NULL */
	const char
		*name; /* for error texts; owned by the module that made the function */
	/* Rules that msd_loaded_call() checks before the call and find reports
	 * (runtime/module/check.h). NULL: the function checks its arguments itself. */
	struct msd_call_rules *rules;
};

static inline struct msd_any msd_none(void)
{
	return (struct msd_any){0};
}
static inline struct msd_any msd_int(int64_t v)
{
	return (struct msd_any){.type = MSD_T_INT, .as.i = v};
}
static inline struct msd_any msd_bool(bool v)
{
	return (struct msd_any){.type = MSD_T_BOOL, .as.i = v};
}
static inline struct msd_any msd_float(double v)
{
	return (struct msd_any){.type = MSD_T_FLOAT, .as.f = v};
}
/* Initialise a function that is part of a larger object and lives as long as that
 * object. Its reference count never frees it. */
static inline void msd_function_init(struct msd_function *fn, const char *name,
				     msd_safe_call call)
{
	*fn = (struct msd_function){.obj = {.counts = MSD_FRESH_COUNTS,
					    .type = MSD_T_FUNCTION,
					    .pad = MSD_FUNCTION_MARK},
				    .call = call,
				    .name = name};
}
/* A function that a library made ends after cpp_call, and has no name. */
static inline const char *msd_function_name(const struct msd_function *fn)
{
	return fn->obj.pad == MSD_FUNCTION_MARK ? fn->name : "a library's function";
}
static inline struct msd_call_rules *msd_function_rules(const struct msd_function *fn)
{
	return fn->obj.pad == MSD_FUNCTION_MARK ? fn->rules : NULL;
}
/* Takes over the caller's reference. */
static inline struct msd_any msd_of_obj(struct msd_obj *obj)
{
	return (struct msd_any){.type = obj->type, .as.obj = obj};
}

/** Initialise the header of a new object, which has one reference. */
static inline void msd_obj_init(struct msd_obj *obj, int32_t type,
				void (*deleter)(void *self, int flags))
{
	*obj = (struct msd_obj){
		.counts = MSD_FRESH_COUNTS, .type = type, .deleter = deleter};
}
/** Add a reference; msd_obj_unref() drops one, and the last one frees the object. */
static inline void msd_obj_ref(struct msd_obj *obj)
{
	(void)__atomic_fetch_add(&obj->counts, 1, __ATOMIC_RELAXED);
}
void msd_obj_unref(struct msd_obj *obj); /* NULL is fine */
/** True if the caller's reference is not the only one. */
bool msd_obj_is_shared(const struct msd_obj *obj);
/**
 * Copy a value and add a reference if it is an object. Borrowed kinds (DLTENSOR,
 * RAW_STR, BYTE_ARRAY) become owned objects. If memory is short, @ret is None and the
 * result false.
 */
MSD_MUST_CHECK bool msd_any_copy(const struct msd_any *v, struct msd_any *ret);
/** Drop the reference that @v owns and set it to None. */
void msd_any_drop(struct msd_any *v);

/**
 * A str or bytes value with a copy of @s; small ones have no object, as containers
 * require. If memory is short, @ret is None and the result false.
 */
MSD_MUST_CHECK bool msd_any_text(struct msd_span s, bool is_text, struct msd_any *ret);

/* Constructors: one reference, NULL if memory is short. */
struct msd_str *msd_str_new(const char *p, size_t n, enum msd_type type);
struct msd_shape *msd_shape_new(const int64_t *dim, size_t ndim);
struct msd_array *msd_array_new(size_t n); /* @n values None */
/** 128-byte-aligned host memory. */
struct msd_storage *msd_storage_new(size_t bytes);
/** A compact tensor with fresh 128-byte-aligned host memory, contents undefined. */
struct msd_tensor *msd_tensor_new(struct msd_dtype dtype, const int64_t *shape,
				  size_t ndim);
/**
 * A compact tensor over memory with another owner. @owner (may be NULL) is referenced
 * until the tensor is freed; then @release(@release_ctx, data) is called if it is not
 * NULL.
 */
struct msd_tensor *msd_tensor_view(void *data, struct msd_device device,
				   struct msd_dtype dtype, const int64_t *shape,
				   size_t ndim, struct msd_obj *owner,
				   void (*release)(void *ctx, void *data),
				   void *release_ctx);
/**
 * A tensor over the memory of @t with its own shape and strides, which code built with
 * tvm-ffi's headers reads without a check. The other parameters are those of
 * msd_tensor_view().
 */
struct msd_tensor *msd_tensor_strided(const struct msd_dltensor *t,
				      struct msd_obj *owner,
				      void (*release)(void *ctx, void *data),
				      void *release_ctx);
/**
 * Give @obj, a compact host tensor whose memory is lent, a copy in memory of its own;
 * during the call only if it is an input, for outputs have to arrive where they are.
 * Does nothing to other objects, also of libraries. False if memory is short.
 */
MSD_MUST_CHECK bool msd_tensor_keep(struct msd_obj *obj, bool is_in_call);
/** The DLTensor in a TENSOR or DLTENSOR value, else NULL. */
struct msd_dltensor *msd_any_dltensor(const struct msd_any *v);
/** Text of any of the string kinds; false for other kinds. Borrowed from @v. */
MSD_MUST_CHECK bool msd_any_str(const struct msd_any *v, struct msd_span *ret);
const char *msd_type_name(int32_t type); /* "tensor", "int", ...: for error texts */

#endif
