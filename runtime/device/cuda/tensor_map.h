#ifndef MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
#define MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
/* Tensor maps: how the copy engine of newer devices (9.0 and later) walks a tensor.
 * Host code makes them before it launches a kernel that takes one. */
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_TENSOR_MAP_BYTES 128u
#define MSD_TENSOR_MAP_ALIGN 64u
#define MSD_TENSOR_MAP_MAX_RANK 5u

/* The innermost extent is first. */
struct msd_tensor_map {
	struct msd_dtype dtype;
	uint32_t rank; /* 1 .. MSD_TENSOR_MAP_MAX_RANK */
	void *address; /* on the device */
	uint64_t shape[MSD_TENSOR_MAP_MAX_RANK];
	uint64_t strides[MSD_TENSOR_MAP_MAX_RANK]; /* bytes; rank - 1 of them */
	uint32_t box[MSD_TENSOR_MAP_MAX_RANK];
	uint32_t steps[MSD_TENSOR_MAP_MAX_RANK];
	/* The driver's numbers. */
	int32_t interleave, swizzle, promotion, fill;
};

/**
 * Encode @map into the MSD_TENSOR_MAP_BYTES at @ret, aligned to MSD_TENSOR_MAP_ALIGN.
 * MSD_UNSUPPORTED: no driver, one before CUDA 12, or a type that has none;
 * MSD_CALL_FAILED: the driver refuses it.
 */
MSD_MUST_CHECK msd_err msd_cuda_tensor_map(const struct msd_tensor_map *map, void *ret,
					   struct msd_diag *d);

#endif
