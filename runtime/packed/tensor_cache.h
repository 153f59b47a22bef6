#ifndef MSD_RUNTIME_PACKED_TENSOR_CACHE_H
#define MSD_RUNTIME_PACKED_TENSOR_CACHE_H
/* TVM's cache of tensors by name, one for the process (vm.builtin.tensor_cache.*). */
#include "runtime/value/value.h"

/**
 * Let @name be the tensor @v, a copy; a former one of that name is dropped. Fast in the
 * order of names. False: memory is short.
 */
MSD_MUST_CHECK bool msd_tensor_cache_put(struct msd_span name, const struct msd_any *v);
/** Drop all tensors. */
void msd_tensor_cache_clear(void);

#endif
