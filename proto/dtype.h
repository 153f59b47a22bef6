#ifndef MSD_PROTO_DTYPE_H
#define MSD_PROTO_DTYPE_H
/*
 * Element types and devices, with DLPack's codes (dlpack.h, version 1.x; the same bytes
 * in TVM 0.6 to 0.27 except for bool, which was {uint, 1 bit} up to TVM 0.22 and is
 * {bool, 8 bits} since 0.23). On the wire bool is always {MSD_DT_BOOL, 8, 1}.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proto/base/err.h"

enum msd_dtype_code {
	MSD_DT_INT = 0,
	MSD_DT_UINT = 1,
	MSD_DT_FLOAT = 2,
	MSD_DT_HANDLE = 3,
	MSD_DT_BFLOAT = 4,
	MSD_DT_COMPLEX = 5,
	MSD_DT_BOOL = 6,
	MSD_DT_F8_E3M4 = 7,
	MSD_DT_F8_E4M3 = 8,
	MSD_DT_F8_E4M3B11FNUZ = 9,
	MSD_DT_F8_E4M3FN = 10,
	MSD_DT_F8_E4M3FNUZ = 11,
	MSD_DT_F8_E5M2 = 12,
	MSD_DT_F8_E5M2FNUZ = 13,
	MSD_DT_F8_E8M0FNU = 14,
	MSD_DT_F6_E2M3FN = 15,
	MSD_DT_F6_E3M2FN = 16,
	MSD_DT_F4_E2M1FN = 17,
};

/* Same layout as DLDataType: passed to compiled code unchanged. */
struct msd_dtype {
	uint8_t code; /* enum msd_dtype_code; files may hold other values */
	uint8_t bits; /* of one lane */
	uint16_t lanes;
};

/* Same layout as DLDevice. */
struct msd_device {
	int32_t type; /* enum msd_device_type */
	int32_t id;   /* ordinal */
};

enum msd_device_type {
	MSD_DEV_CPU = 1,
	MSD_DEV_CUDA = 2,
	MSD_DEV_CUDA_HOST = 3,
	MSD_DEV_OPENCL = 4,
	MSD_DEV_VULKAN = 7,
	MSD_DEV_METAL = 8,
	MSD_DEV_ROCM = 10,
};

#define MSD_DTYPE_NAME_MAX 40 /* bytes incl. NUL for msd_dtype_format() */
#define MSD_MAX_NDIM 32       /* dimensions of any tensor that modserd handles */

/** True if code, bits and lanes are equal. */
bool msd_dtype_eq(struct msd_dtype a, struct msd_dtype b);
/** True for a bool, as in DLPack or in older TVM. */
bool msd_dtype_is_bool(struct msd_dtype t);
/**
 * Bytes of @n elements: ceil(n * bits * lanes / 8); false on overflow. {uint,1} is
 * TVM's older bool and takes one byte per element, as in every TVM.
 */
MSD_MUST_CHECK bool msd_dtype_bytes(struct msd_dtype t, uint64_t n,
				    uint64_t *ret_bytes);
/** Elements of a row-major shape; false for a negative dimension or an overflow. */
MSD_MUST_CHECK bool msd_shape_elements(const int64_t *shape, size_t ndim,
				       uint64_t *ret_n);
/**
 * Name as numpy and ml_dtypes write it ("float32", "bool", "bfloat16",
 * "float8_e4m3fn", "float32x4" for lanes > 1; "type<code,bits,lanes>" if there is no
 * name). {uint,1,1} and {bool,8,1} are both "bool". Returns @buf.
 */
const char *msd_dtype_format(struct msd_dtype t, char buf[static MSD_DTYPE_NAME_MAX]);
/**
 * Parse a name in the spelling of numpy, ml_dtypes or TVM ("e4m3_float8", "handle").
 * "bool" gives {MSD_DT_BOOL, 8, 1}. False if @name is unknown.
 */
MSD_MUST_CHECK bool msd_dtype_parse(const char *name, size_t len,
				    struct msd_dtype *ret);
/** "cpu", "cuda", "opencl", ... or "device<7>" into @buf; returns @buf. */
const char *msd_device_type_format(int32_t type, char buf[static MSD_DTYPE_NAME_MAX]);
/** Parse "cpu", "cuda:1", "opencl:0"; a missing ordinal is 0. */
MSD_MUST_CHECK bool msd_device_parse(const char *name, size_t len,
				     struct msd_device *ret);

#endif
