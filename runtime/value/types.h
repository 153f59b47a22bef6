#ifndef MSD_RUNTIME_VALUE_TYPES_H
#define MSD_RUNTIME_VALUE_TYPES_H
/*
 * The types of values by index and by key, as code built with tvm-ffi's headers
 * registers and asks for them: ancestors, fields, methods, metadata, attributes. One
 * table for the process, which only grows; any thread may use it.
 *
 * Functions that fail raise their error (runtime/value/error.h) and return -1.
 */
#include "runtime/value/error.h"

#define MSD_MAX_TYPES 16384      /* indices */
#define MSD_MAX_TYPE_PARTS 4096u /* fields of a type, its methods; all attributes */

/* TVMFFIFieldInfo. */
struct msd_field_info {
	struct msd_bytes name;
	struct msd_bytes doc;
	struct msd_bytes metadata;
	int64_t flags;
	int64_t size;
	int64_t alignment;
	int64_t offset; /* from the object's header */
	int (*getter)(void *field, struct msd_any *ret);
	void *setter;
	struct msd_any fallback; /* default value, or the function that makes it */
	int32_t static_type;
};

/* TVMFFIMethodInfo. */
struct msd_method_info {
	struct msd_bytes name;
	struct msd_bytes doc;
	struct msd_bytes metadata;
	int64_t flags;
	struct msd_any method;
};

/* TVMFFITypeMetadata. */
struct msd_type_metadata {
	struct msd_bytes doc;
	int (*creator)(void **ret);
	int32_t total_size;
	int32_t equality; /* how structures are compared */
};

/* TVMFFITypeInfo. */
struct msd_type_info {
	int32_t type;
	int32_t depth;
	struct msd_bytes key;
	const struct msd_type_info *const *ancestors; /* @depth entries, root first */
	uint64_t key_hash;
	int32_t n_fields;
	int32_t n_methods;
	const struct msd_field_info *fields;
	const struct msd_method_info *methods;
	const struct msd_type_metadata *metadata;
};

/* TVMFFITypeAttrColumn: the values of an attribute for types from @first on. */
struct msd_type_column {
	const struct msd_any *values;
	int32_t n;
	int32_t first;
};

/* A type that is registered. */
struct msd_type_request {
	struct msd_bytes key;
	int32_t index; /* -1: a new one */
	int32_t depth;
	int32_t n_children; /* indices to reserve for types below it */
	bool may_overflow;  /* more types below it get indices elsewhere */
	int32_t parent;     /* -1: none; -2: only look the key up */
};

/**
 * The index of a type by its key, which is registered at the first call. The result
 * is always a valid index, except -2 of a look-up that found nothing. A request that
 * cannot be served leaves a fault.
 */
int32_t msd_type_register(const struct msd_type_request *r);
/**
 * Take the text of the first fault since the last call, NULL if there is none; the
 * caller frees it.
 */
char *msd_type_take_fault(void);
/** The index of the type called @key. */
int msd_type_find(const struct msd_bytes *key, int32_t *ret);
/** An unknown type has the key "?" and no ancestor. */
const struct msd_type_info *msd_type_info(int32_t type);
/** Register a part of a type; texts are copied, values referenced. */
int msd_type_add_field(int32_t type, const struct msd_field_info *info);
int msd_type_add_method(int32_t type, const struct msd_method_info *info);
int msd_type_set_metadata(int32_t type, const struct msd_type_metadata *metadata);
/** Set the attribute @name of a type; type 0 only creates its column. */
int msd_type_set_attribute(int32_t type, const struct msd_bytes *name,
			   const struct msd_any *value);
/** The column of an attribute, NULL if there is none. It lives as long as the
 * process. */
const struct msd_type_column *msd_type_column(const struct msd_bytes *name);

#endif
