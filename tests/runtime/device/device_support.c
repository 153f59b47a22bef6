#include "tests/runtime/device/device_support.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "tests/runtime/support.h"

struct msd_dev *opencl_open(void)
{
	struct msd_diag d = {0};
	struct msd_dev *dev = NULL;

	if (msd_dev_open((struct msd_device){MSD_DEV_OPENCL, 0}, &dev, &d) != MSD_OK)
		printf("skipped: %s\n", msd_diag_text(&d));
	msd_diag_finish(&d);
	return dev;
}

struct msd_any to_device(struct msd_dev *dev, struct msd_tensor *t)
{
	struct msd_diag d = {0};
	struct msd_tensor *there = NULL;
	msd_err err = msd_dev_tensor(dev, t->dl.dtype, t->dl.shape, (size_t)t->dl.ndim,
				     &there, &d);

	if (err == MSD_OK) {
		err = msd_dev_copy(dev, there->dl.data, NULL, t->dl.data,
				   msd_dltensor_bytes(&t->dl), &d);
	}
	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	cr_assert(err == MSD_OK, "%s", msd_diag_text(&d));
	msd_obj_unref(&t->obj);
	return msd_of_obj(&there->obj);
}

struct msd_any zeros_on(struct msd_dev *dev, const struct msd_tensor *like)
{
	return to_device(dev, tensor_like(like));
}

void expect_on_device(struct msd_dev *dev, struct msd_any got, struct msd_tensor *want)
{
	const struct msd_dltensor *there = msd_any_dltensor(&got);
	struct msd_tensor *back = tensor_like(want);
	const size_t n = msd_dltensor_bytes(&want->dl);
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	cr_assert_not_null(there);
	cr_assert_eq(msd_dltensor_bytes(there), n);
	err = msd_dev_copy(NULL, back->dl.data, dev, there->data, n, &d);
	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	cr_assert(err == MSD_OK, "%s", msd_diag_text(&d));
	cr_expect_eq(memcmp(back->dl.data, want->dl.data, n), 0);
	msd_any_drop(&got);
	msd_obj_unref(&back->obj);
	msd_obj_unref(&want->obj);
}
