#include "tests/runtime/device/opencl_place.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/device/device_support.h"

bool opencl_place_open(struct opencl_place *p, const char *file)
{
	const char *path;

	*p = (struct opencl_place){0};
	p->dev = opencl_open();
	path = p->dev != NULL ? fixture_path(file) : NULL;
	if (path == NULL) {
		msd_dev_close(p->dev);
		return false;
	}
	(void)snprintf(p->directory, sizeof(p->directory), "%.*s",
		       (int)(strrchr(file, '/') - file), file);
	lib_must_open(&p->lib, path);
	msd_err err =
		msd_loaded_place(p->lib.loaded, (struct msd_device){0, 0}, &p->lib.d);
	cr_assert(err == MSD_OK, "%s", msd_diag_text(&p->lib.d));
	return true;
}

void opencl_place_close(struct opencl_place *p)
{
	lib_close(&p->lib);
	msd_dev_close(p->dev);
}

struct msd_tensor *opencl_array(const struct opencl_place *p, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%s/%s.npy", p->directory, name);
	const char *found = fixture_path(path);
	cr_assert_not_null(found);
	return npy_read_file(found);
}
