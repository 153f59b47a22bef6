#include "runtime/device/cuda_tensor_map.h"

#include "runtime/device/cuda_api.h"

/* -1: none. What has 8 bits travels as bytes. */
static int type_of(struct msd_dtype t)
{
	if (t.lanes != 1)
		return -1;
	if (t.bits == 8)
		return MSD_CU_TENSOR_MAP_DATA_TYPE_UINT8;
	switch ((int)t.code * 256 + t.bits) {
	case MSD_DT_INT * 256 + 32:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_INT32;
	case MSD_DT_INT * 256 + 64:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_INT64;
	case MSD_DT_UINT * 256 + 16:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_UINT16;
	case MSD_DT_UINT * 256 + 32:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_UINT32;
	case MSD_DT_UINT * 256 + 64:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_UINT64;
	case MSD_DT_FLOAT * 256 + 16:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT16;
	case MSD_DT_FLOAT * 256 + 32:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
	case MSD_DT_FLOAT * 256 + 64:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT64;
	case MSD_DT_BFLOAT * 256 + 16:
		return MSD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16;
	default:
		return -1;
	}
}

msd_err msd_cuda_tensor_map(const struct msd_tensor_map *map, void *ret,
			    struct msd_diag *d)
{
	const struct msd_cuda_api *api = msd_cuda_api(d);
	const int type = type_of(map->dtype);
	char name[MSD_DTYPE_NAME_MAX];

	if (api == NULL)
		return MSD_UNSUPPORTED;
	if (api->tensor_map_tiled == NULL)
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "tensor maps need a CUDA driver of 12.0 or later");
	if (type < 0)
		return msd_diag_set(d, MSD_UNSUPPORTED, "no tensor map has elements %s",
				    msd_dtype_format(map->dtype, name));
	int code = api->tensor_map_tiled(
		ret, type, map->rank, map->address, map->shape, map->strides, map->box,
		map->steps, map->interleave, map->swizzle, map->promotion, map->fill);
	return code == MSD_CU_SUCCESS
		       ? MSD_OK
		       : msd_cuda_error(d, "cuTensorMapEncodeTiled", code);
}
