#ifndef MSD_RUNTIME_GLOBAL_ARGS_H
#define MSD_RUNTIME_GLOBAL_ARGS_H
/*
 * Shared code of the runtime's packed functions: typed access to their arguments, and
 * the tables that global.c searches. A reader that fails has already raised the error
 * (runtime/value/error.h): return -1. All results are borrowed from the arguments.
 *
 * Texts do not name the function itself: the caller adds the callee's name.
 */
#include <stdbool.h>

#include "runtime/value/error.h"
#include "runtime/value/value.h"

struct msd_vm_memory;

/* The arguments of one call. */
struct msd_args {
	const struct msd_any *v;
	int32_t n;
};

/** At least @min and at most @max arguments; @max -1: no limit. */
MSD_MUST_CHECK bool msd_args_count(struct msd_args a, int32_t min, int32_t max);
MSD_MUST_CHECK bool msd_args_int(struct msd_args a, int32_t i, int64_t *ret);
/** A float or an int. */
MSD_MUST_CHECK bool msd_args_float(struct msd_args a, int32_t i, double *ret);
MSD_MUST_CHECK bool msd_args_tensor(struct msd_args a, int32_t i,
				    struct msd_dltensor **ret);
/** The same on any device, row-major without gaps. */
MSD_MUST_CHECK bool msd_args_compact_tensor(struct msd_args a, int32_t i,
					    struct msd_dltensor **ret);
/** A tensor on the host, which this process may read. */
MSD_MUST_CHECK bool msd_args_host_tensor(struct msd_args a, int32_t i,
					 struct msd_dltensor **ret);
/** Both: on the host and compact. */
MSD_MUST_CHECK bool msd_args_host_compact_tensor(struct msd_args a, int32_t i,
						 struct msd_dltensor **ret);
MSD_MUST_CHECK bool msd_args_shape(struct msd_args a, int32_t i,
				   struct msd_shape **ret);
MSD_MUST_CHECK bool msd_args_tuple(struct msd_args a, int32_t i,
				   struct msd_array **ret);
/** A dtype or its name. */
MSD_MUST_CHECK bool msd_args_dtype(struct msd_args a, int32_t i, struct msd_dtype *ret);
MSD_MUST_CHECK bool msd_args_function(struct msd_args a, int32_t i,
				      struct msd_function **ret);
/** The address that a VM passes as %vm. */
MSD_MUST_CHECK bool msd_args_vm(struct msd_args a, int32_t i,
				struct msd_vm_memory **ret);
/** Raise "argument @i: expected @expected but got ...". Returns -1. */
static inline int msd_args_refuse(struct msd_args a, int32_t i, const char *expected)
{
	(void)msd_abi_raise("TypeError", "argument %d: expected %s but got %s", (int)i,
			    expected, msd_type_name(a.v[i].type));
	return -1;
}

/* Address of the first element, including byte_offset. */
static inline void *msd_dltensor_at(const struct msd_dltensor *t)
{
	return (char *)t->data + t->byte_offset;
}
/** Size of a compact tensor of @shape in bytes; false if the shape is not valid. */
MSD_MUST_CHECK bool msd_shape_bytes(const struct msd_shape *shape,
				    struct msd_dtype dtype, size_t *ret);
/**
 * Prefix the error with @callee's name if @rc, the result of its call, is not 0.
 * Returns @rc.
 */
int msd_name_error(const struct msd_function *callee, int rc);
/** Return @obj (one reference moves to @ret); NULL raises out of memory. */
int msd_return_obj(struct msd_obj *obj, struct msd_any *ret);
/** Return @v with its own reference. */
int msd_return_copy(const struct msd_any *v, struct msd_any *ret);

#endif
