/* Functions other than kernels that host code of CUDA modules calls. */
#include "runtime/device/cuda/cuda.h"

#include <stdio.h>

#include "artifact/provides/packed.h"
#include "runtime/device/cuda/tensor_map.h"
#include "runtime/packed/args.h"
#include "runtime/packed/global.h"

/* Reads the arguments from @at on, one after another. */
struct reader {
	struct msd_args a;
	int32_t at;
};

static bool read_number(struct reader *r, int64_t most, int64_t *ret)
{
	if (!msd_args_int(r->a, r->at, ret))
		return false;
	if (*ret < 0 || *ret > most)
		return msd_args_refuse(r->a, r->at, "an extent") == 0;
	r->at++;
	return true;
}

static bool read_u64s(struct reader *r, uint32_t n, uint64_t *ret)
{
	int64_t v;

	for (uint32_t i = 0; i < n; i++) {
		if (!read_number(r, INT64_MAX, &v))
			return false;
		ret[i] = (uint64_t)v;
	}
	return true;
}

static bool read_u32s(struct reader *r, uint32_t n, uint32_t *ret)
{
	int64_t v;

	for (uint32_t i = 0; i < n; i++) {
		if (!read_number(r, UINT32_MAX, &v))
			return false;
		ret[i] = (uint32_t)v;
	}
	return true;
}

static bool read_pointer(struct reader *r, size_t align, void **ret)
{
	const struct msd_any *v = &r->a.v[r->at];

	if (v->type != MSD_T_POINTER || v->as.p == NULL ||
	    (uintptr_t)v->as.p % align != 0)
		return msd_args_refuse(r->a, r->at, "an aligned address") == 0;
	*ret = v->as.p;
	r->at++;
	return true;
}

/* Since 0.26 this is the last argument, optional. */
static bool read_forced_type(struct reader *r, int32_t *ret)
{
	int64_t type = MSD_TENSOR_MAP_OWN_TYPE;

	if (r->at < r->a.n && !msd_args_int(r->a, r->at, &type))
		return false;
	if (type < MSD_TENSOR_MAP_OWN_TYPE || type > MSD_TENSOR_MAP_MAX_TYPE)
		return msd_args_refuse(r->a, r->at, "a type of tensor maps or -1") == 0;
	*ret = (int32_t)type;
	return true;
}

static bool read_numbers(struct reader *r, struct msd_tensor_map *map)
{
	int64_t kinds[4];

	if (!read_u64s(r, map->rank, map->shape) ||
	    !read_u64s(r, map->rank - 1, map->strides) ||
	    !read_u32s(r, map->rank, map->box) || !read_u32s(r, map->rank, map->steps))
		return false;
	for (int i = 0; i < 4; i++) {
		if (!read_number(r, INT32_MAX, &kinds[i]))
			return false;
	}
	map->interleave = (int32_t)kinds[0];
	map->swizzle = (int32_t)kinds[1];
	map->promotion = (int32_t)kinds[2];
	map->fill = (int32_t)kinds[3];
	return read_forced_type(r, &map->forced_type);
}

static int raised(msd_err err, struct msd_diag *d)
{
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(d));
	msd_diag_finish(d);
	return -1;
}

/* (map, dtype, rank, address, shape[rank], strides[rank - 1], box[rank], steps[rank],
 * interleave, swizzle, promotion, fill[, type]) */
static int encode_tiled(void *self, const struct msd_any *args, int32_t n,
			struct msd_any *ret)
{
	struct reader r = {{args, n}, 0};
	struct msd_tensor_map map = {0};
	struct msd_diag d = {0};
	void *out;
	int64_t rank;

	(void)self;
	(void)ret;
	if (!msd_args_count(r.a, 4, -1) ||
	    !read_pointer(&r, MSD_TENSOR_MAP_ALIGN, &out) ||
	    !msd_args_dtype(r.a, 1, &map.dtype) || !msd_args_int(r.a, 2, &rank))
		return -1;
	if (rank < 1 || rank > MSD_TENSOR_MAP_MAX_RANK)
		return msd_args_refuse(r.a, 2, "a rank from 1 to 5");
	map.rank = (uint32_t)rank;
	r.at = 3;
	if (!msd_args_count(r.a, 7 + 4 * (int32_t)rank, 8 + 4 * (int32_t)rank) ||
	    !read_pointer(&r, 1, &map.address) || !read_numbers(&r, &map))
		return -1;
	msd_err err = msd_cuda_tensor_map(&map, out, &d);
	return err == MSD_OK ? 0 : raised(err, &d);
}

/* () -> the stream of the thread's device, for kernels that a library launches
 * itself; they stay in order with ours. */
static int get_stream(void *self, const struct msd_any *args, int32_t n,
		      struct msd_any *ret)
{
	struct msd_cuda *cuda = NULL;
	struct msd_diag d = {0};

	(void)self;
	if (!msd_args_count((struct msd_args){args, n}, 0, 0))
		return -1;
	msd_err err = msd_cuda_of_thread(&cuda, &d);
	if (err != MSD_OK)
		return raised(err, &d);
	*ret = (struct msd_any){.type = MSD_T_POINTER, .as.p = msd_cuda_stream(cuda)};
	return 0;
}

static int get_device_count(void *self, const struct msd_any *args, int32_t n,
			    struct msd_any *ret)
{
	struct msd_diag d = {0};
	uint32_t count = 0;

	(void)self;
	if (!msd_args_count((struct msd_args){args, n}, 0, 0))
		return -1;
	msd_err err = msd_device_cuda.count(&count, &d);
	if (err != MSD_OK)
		return raised(err, &d);
	*ret = msd_int(count);
	return 0;
}

/* () -> TVM's text about the thread's device. */
static int get_free_memory(void *self, const struct msd_any *args, int32_t n,
			   struct msd_any *ret)
{
	struct msd_cuda *cuda = NULL;
	struct msd_diag d = {0};
	size_t free_bytes = 0;
	size_t total_bytes = 0;
	char text[128];

	(void)self;
	if (!msd_args_count((struct msd_args){args, n}, 0, 0))
		return -1;
	msd_err err = msd_cuda_of_thread(&cuda, &d);
	if (err == MSD_OK)
		err = msd_cuda_enter(cuda, &d);
	if (err == MSD_OK) {
		const int code = cuda->api->mem_info(&free_bytes, &total_bytes);
		if (code != MSD_CU_SUCCESS)
			err = msd_cuda_error(&d, "cuMemGetInfo", code);
	}
	if (err != MSD_OK)
		return raised(err, &d);
	int length = snprintf(text, sizeof(text),
			      "Current CUDA memory is %zu bytes free out of %zu bytes "
			      "on device",
			      free_bytes, total_bytes);
	struct msd_str *s = msd_str_new(text, (size_t)length, MSD_T_STR);
	if (s == NULL)
		return msd_abi_no_memory();
	*ret = msd_of_obj(&s->obj);
	return 0;
}

const struct msd_global msd_globals_cuda[] = MSD_GLOBAL_TABLE(MSD_PACKED_CUDA);
