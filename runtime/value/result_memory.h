#ifndef MSD_RUNTIME_VALUE_RESULT_MEMORY_H
#define MSD_RUNTIME_VALUE_RESULT_MEMORY_H
/* Memory for the tensors that a call returns, from its caller: a worker gives room in
 * the reply's segment, so that the reply needs no copy. */
#include <stddef.h>
#include <stdint.h>

#include "proto/dtype.h"

struct msd_result_memory {
	/* @bytes of memory, aligned as msd_tensor_new() does, for a tensor of @dtype.
	 * NULL: the callee allocates. The callee writes all of it. */
	void *(*reserve)(struct msd_result_memory *m, struct msd_dtype dtype,
			 uint64_t bytes);
};

/** Calls on this thread return tensors in memory of @m, until it is set to NULL. */
void msd_result_memory_set(struct msd_result_memory *m);
/**
 * As msd_tensor_new(), in the memory of the caller if it gives some. Use it only for a
 * tensor that the running call returns and does not keep.
 */
struct msd_tensor *msd_result_tensor_new(struct msd_dtype dtype, const int64_t *shape,
					 size_t ndim);

#endif
