#ifndef MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
#define MSD_RUNTIME_DEVICE_CUDA_TENSOR_MAP_H
/*
 * Tensor maps: descriptors with which the copy engine of newer devices (9.0 and
 * later) traverses a tensor. Host code makes them before it launches a kernel that
 * takes one.
 */
#include "proto/base/diag.h"
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
	uint64_t strides[MSD_TENSOR_MAP_MAX_RANK]; /* bytes; rank - 1 entries */
	uint32_t box[MSD_TENSOR_MAP_MAX_RANK];
	uint32_t steps[MSD_TENSOR_MAP_MAX_RANK];
	/* The driver's numbers. */
	int32_t interleave, swizzle, promotion, fill;
	/* The driver's number of the element type; overrides dtype, e.g. TF32, which
	 * is float32 elsewhere. MSD_TENSOR_MAP_OWN_TYPE: use dtype. */
	int32_t forced_type;
};

/**
 * Encode @map into the MSD_TENSOR_MAP_BYTES at @ret, aligned to MSD_TENSOR_MAP_ALIGN.
 * Uses the context of the thread's device, else of any open device: any thread may
 * call. MSD_UNSUPPORTED: no driver, a driver before CUDA 12, no open device, or a
 * type without a number; MSD_CALL_FAILED: the driver rejects it.
 */
MSD_MUST_CHECK msd_err msd_cuda_tensor_map(const struct msd_tensor_map *map, void *ret,
					   struct msd_diag *d);

#endif
