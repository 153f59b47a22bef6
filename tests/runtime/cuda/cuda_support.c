#include "tests/runtime/cuda/cuda_support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "runtime/packed/global.h"
#include "tests/runtime/cuda/stub.h"

static char directory[64];

void *stub_symbol(const char *name)
{
	const char *path = getenv("MODSERD_LIBCUDA");

	cr_assert_not_null(path, "run by ctest");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	void *symbol = dlsym(library, name);
	cr_assert_not_null(symbol, "%s", name);
	return symbol;
}

const struct stub_cuda_control *stub(void)
{
	return stub_symbol("stub_cuda");
}

struct msd_dev *cuda_open(int ordinal)
{
	struct msd_diag d = {0};
	struct msd_dev *dev = NULL;
	msd_err err =
		msd_dev_open((struct msd_device){MSD_DEV_CUDA, ordinal}, &dev, &d);

	cr_assert(err == MSD_OK, "%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	return dev;
}

const char *cache_fresh(void)
{
	(void)snprintf(directory, sizeof(directory), "/tmp/modserd-cuda-XXXXXX");
	cr_assert_not_null(mkdtemp(directory));
	cr_assert_eq(setenv("MODSERD_CACHE", directory, 1), 0);
	return directory;
}

void cache_remove(void)
{
	char path[512];
	DIR *at = opendir(directory);

	for (const struct dirent *e; at != NULL && (e = readdir(at)) != NULL;) {
		(void)snprintf(path, sizeof(path), "%s/%s", directory, e->d_name);
		(void)unlink(path);
	}
	if (at != NULL)
		(void)closedir(at);
	(void)rmdir(directory);
}

struct map_request map_request(void *map, void *address)
{
	return (struct map_request){
		.map = map,
		.dtype = "float16",
		.address = address,
		.shape = {64, 32},
		.stride = 128,
		.box = {8, 8},
		.steps = {1, 1},
		.swizzle = 3,
		.promotion = 2,
	};
}

int map_encode(const struct map_request *r)
{
	struct msd_function *encode = msd_global_find("runtime.cuTensorMapEncodeTiled");
	const int64_t numbers[] = {r->shape[0],  r->shape[1],   r->stride,
				   r->box[0],    r->box[1],     r->steps[0],
				   r->steps[1],  r->interleave, r->swizzle,
				   r->promotion, r->fill,       r->forced};
	struct msd_any args[4 + sizeof(numbers) / sizeof(numbers[0])];
	struct msd_any ret = msd_none();

	args[0] = (struct msd_any){.type = MSD_T_POINTER, .as.p = r->map};
	args[1] = (struct msd_any){.type = MSD_T_RAW_STR, .as.str = r->dtype};
	args[2] = msd_int(2);
	args[3] = (struct msd_any){.type = MSD_T_POINTER, .as.p = r->address};
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		args[4 + i] = msd_int(numbers[i]);
	return encode->call(encode, args, r->has_forced ? 16 : 15, &ret);
}

void expect_clean(void)
{
	cr_expect_eq(stub()->violations(), 0, "%s", stub()->first_violation());
	cr_expect_eq(stub()->alive(), 0, "%u objects are left", stub()->alive());
}
