#include "runtime/value/result_memory.h"

#include "proto/dtype.h"
#include "runtime/value/value.h"

static _Thread_local struct msd_result_memory *current;

void msd_result_memory_set(struct msd_result_memory *m)
{
	current = m;
}

struct msd_tensor *msd_result_tensor_new(struct msd_dtype dtype, const int64_t *shape,
					 size_t ndim)
{
	const struct msd_device host = {.type = MSD_DEV_CPU};
	void *p = NULL;
	uint64_t bytes;
	uint64_t n;

	if (current != NULL && ndim <= MSD_MAX_NDIM &&
	    msd_shape_elements(shape, ndim, &n) && msd_dtype_bytes(dtype, n, &bytes) &&
	    bytes > 0)
		p = current->reserve(current, dtype, bytes);
	return p != NULL
		       ? msd_tensor_view(p, host, dtype, shape, ndim, NULL, NULL, NULL)
		       : msd_tensor_new(dtype, shape, ndim);
}
