#ifndef MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
#define MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
/* Tensor maps: how the copy engine of newer devices (9.0 and later) walks a tensor.
 * Host code makes them before it launches a kernel that takes one. */
#include "proto/diag.h"
#include "proto/dtype.h"

#define MSD_TENSOR_MAP_BYTES 128u
#define MSD_TENSOR_MAP_ALIGN 64u
#define MSD_TENSOR_MAP_MAX_RANK 5u

#define MSD_TENSOR_MAP_OWN_TYPE (-1)
#define MSD_TENSOR_MAP_MAX_TYPE 15 /* CU_TENSOR_MAP_DATA_TYPE_16U6_ALIGN16B */

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
	/* Its number of the elements' type, in place of that of dtype: TF32 is float32
	 * to everybody else. MSD_TENSOR_MAP_OWN_TYPE: dtype's. */
	int32_t forced_type;
};

/**
 * Encode @map into the MSD_TENSOR_MAP_BYTES at @ret, aligned to MSD_TENSOR_MAP_ALIGN,
 * with the context of the thread's device, else of one that is open: any thread may
 * ask. MSD_UNSUPPORTED: no driver, one before CUDA 12, no device that is open, or a
 * type that has none;
 * MSD_CALL_FAILED: the driver refuses it.
 */
MSD_MUST_CHECK msd_err msd_cuda_tensor_map(const struct msd_tensor_map *map, void *ret,
					   struct msd_diag *d);

#endif
