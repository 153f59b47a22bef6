#include "runtime/value/dltensor.h"

size_t msd_dltensor_bytes(const struct msd_dltensor *t)
{
	struct msd_dtype dtype = t->dtype;
	uint64_t n;
	uint64_t bytes;

	if (t->ndim < 0 || !msd_shape_elements(t->shape, (size_t)t->ndim, &n))
		return 0;
	/* In TVM up to 0.22 bool has 1 bit by name but occupies one byte in memory. */
	if (dtype.code == MSD_DT_UINT && dtype.bits == 1)
		dtype.bits = 8;
	if (!msd_dtype_bytes(dtype, n, &bytes) || bytes > SIZE_MAX)
		return 0;
	return (size_t)bytes;
}

bool msd_dltensor_is_compact(const struct msd_dltensor *t)
{
	int64_t expected = 1;

	if (t->strides == NULL)
		return true;
	for (int32_t i = t->ndim; i-- > 0;) {
		if (t->shape[i] != 1 && t->strides[i] != expected)
			return false;
		expected *= t->shape[i];
	}
	return true;
}
