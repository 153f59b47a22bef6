#ifndef MSD_RUNTIME_VALUE_DLTENSOR_H
#define MSD_RUNTIME_VALUE_DLTENSOR_H
/* A tensor as compiled code sees it, with exactly the layout of DLPack's DLTensor. It
 * does not own its elements. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/dtype.h"

struct msd_dltensor {
	void *data;
	struct msd_device device;
	int32_t ndim;
	struct msd_dtype dtype;
	int64_t *shape;
	int64_t *strides; /* in elements; NULL = compact row-major */
	uint64_t byte_offset;
};
_Static_assert(sizeof(struct msd_dltensor) == 48, "DLTensor");

/** Bytes of a compact tensor's elements (sub-byte types rounded up). */
size_t msd_dltensor_bytes(const struct msd_dltensor *t);
/** True if row-major without gaps; the stride of a dimension of extent 1 is ignored. */
bool msd_dltensor_is_compact(const struct msd_dltensor *t);

#endif
