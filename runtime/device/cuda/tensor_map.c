#include "runtime/device/cuda/tensor_map.h"

#include "runtime/device/cuda/cuda.h"

static const struct {
	uint8_t code, bits;
	int type;
} types[] = {
	{MSD_DT_INT, 32, MSD_CU_TENSOR_MAP_DATA_TYPE_INT32},
	{MSD_DT_INT, 64, MSD_CU_TENSOR_MAP_DATA_TYPE_INT64},
	{MSD_DT_UINT, 16, MSD_CU_TENSOR_MAP_DATA_TYPE_UINT16},
	{MSD_DT_UINT, 32, MSD_CU_TENSOR_MAP_DATA_TYPE_UINT32},
	{MSD_DT_UINT, 64, MSD_CU_TENSOR_MAP_DATA_TYPE_UINT64},
	{MSD_DT_FLOAT, 16, MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT16},
	{MSD_DT_FLOAT, 32, MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT32},
	{MSD_DT_FLOAT, 64, MSD_CU_TENSOR_MAP_DATA_TYPE_FLOAT64},
	{MSD_DT_BFLOAT, 16, MSD_CU_TENSOR_MAP_DATA_TYPE_BFLOAT16},
	{MSD_DT_F4_E2M1FN, 4, MSD_CU_TENSOR_MAP_DATA_TYPE_16U4_ALIGN16B},
};

/* -1: none. Types of 8 bits are copied as bytes. */
static int type_of(struct msd_dtype t)
{
	if (t.lanes == 1 && t.bits == 8)
		return MSD_CU_TENSOR_MAP_DATA_TYPE_UINT8;
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		if (t.lanes == 1 && t.code == types[i].code && t.bits == types[i].bits)
			return types[i].type;
	}
	return -1;
}

/* The driver encodes for the device of the current context, and a pool thread has
 * none. */
static msd_err context_enter(struct msd_diag *d)
{
	struct msd_cuda *cuda = NULL;
	msd_err err = msd_cuda_of_thread(&cuda, d);

	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "a tensor map");
	return msd_cuda_enter(cuda, d);
}

msd_err msd_cuda_tensor_map(const struct msd_tensor_map *map, void *ret,
			    struct msd_diag *d)
{
	const struct msd_cuda_api *api = msd_cuda_api(d);
	const int type = map->forced_type != MSD_TENSOR_MAP_OWN_TYPE
				 ? map->forced_type
				 : type_of(map->dtype);
	char name[MSD_DTYPE_NAME_MAX];

	if (api == NULL)
		return MSD_UNSUPPORTED;
	if (api->tensor_map_tiled == NULL) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "tensor maps need a CUDA driver of 12.0 or later");
	}
	if (type < 0) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "no tensor map has elements %s",
				    msd_dtype_format(map->dtype, name));
	}
	msd_err err = context_enter(d);
	if (err != MSD_OK)
		return err;
	int code = api->tensor_map_tiled(
		ret, type, map->rank, map->address, map->shape, map->strides, map->box,
		map->steps, map->interleave, map->swizzle, map->promotion, map->fill);
	return code == MSD_CU_SUCCESS
		       ? MSD_OK
		       : msd_cuda_error(d, "cuTensorMapEncodeTiled", code);
}
