#include "tests/runtime/cuda/cuda_support.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "runtime/device/device.h"
#include "tests/runtime/cuda/stub.h"

static char directory[64];

const struct stub_cuda_control *stub(void)
{
	const char *path = getenv("MODSERD_LIBCUDA");

	cr_assert_not_null(path, "run by ctest");
	void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	cr_assert_not_null(library, "%s", dlerror());
	const struct stub_cuda_control *control = dlsym(library, "stub_cuda");
	cr_assert_not_null(control);
	return control;
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

void expect_clean(void)
{
	cr_expect_eq(stub()->violations(), 0, "%s", stub()->first_violation());
	cr_expect_eq(stub()->alive(), 0, "%u objects are left", stub()->alive());
}
