/* What every backend must do; run on the host and on OpenCL when it is there. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/memory.h"
#include "runtime/device/workspace.h"

#define N 1024

/* Every device of these types that is here, opened. */
static const struct msd_device kinds[] = {{MSD_DEV_CPU, 0}, {MSD_DEV_OPENCL, 0}};
#define N_KINDS (sizeof(kinds) / sizeof(kinds[0]))

static struct msd_dev *open_kind(size_t i)
{
	struct msd_diag d = {0};
	struct msd_dev *dev = NULL;

	if (msd_dev_open(kinds[i], &dev, &d) != MSD_OK)
		printf("skipped: %s\n", msd_diag_text(&d));
	msd_diag_finish(&d);
	return dev;
}

static void read_back(struct msd_dev *dev, uint8_t *dst, const void *src, size_t n)
{
	cr_assert_eq(msd_dev_copy(NULL, dst, dev, src, n, NULL), MSD_OK);
	cr_assert_eq(msd_dev_sync(dev, NULL), MSD_OK);
}

Test(device, bytes_come_back_from_any_place_in_a_block)
{
	uint8_t in[N], out[N];

	for (size_t i = 0; i < N; i++)
		in[i] = (uint8_t)(i * 7);
	for (size_t k = 0; k < N_KINDS; k++) {
		struct msd_dev *dev = open_kind(k);
		void *p;
		if (dev == NULL)
			continue;
		cr_assert_eq(msd_dev_alloc(dev, N, &p, NULL), MSD_OK);
		cr_expect_eq((uintptr_t)p % 128, 0u);
		cr_assert_eq(msd_dev_copy(dev, p, NULL, in, N, NULL), MSD_OK);
		read_back(dev, out, (char *)p + 100, 50);
		cr_expect_eq(memcmp(out, in + 100, 50), 0);
		cr_assert_eq(dev->ops->fill(dev, (char *)p + 10, 9, 20, NULL), MSD_OK);
		read_back(dev, out, p, N);
		cr_expect(out[9] == in[9] && out[10] == 9 && out[29] == 9 &&
			  out[30] == in[30]);
		msd_dev_free(dev, p, N);
		msd_dev_close(dev);
	}
}

Test(device, bytes_go_from_every_device_to_every_other)
{
	uint8_t in[N] = {1, 2, 3}, out[N];

	for (size_t k = 0; k < N_KINDS * N_KINDS; k++) {
		struct msd_dev *from = open_kind(k / N_KINDS);
		struct msd_dev *to = open_kind(k % N_KINDS);
		void *a = NULL, *b = NULL;
		if (from != NULL && to != NULL) {
			cr_assert_eq(msd_dev_alloc(from, N, &a, NULL), MSD_OK);
			cr_assert_eq(msd_dev_alloc(to, N, &b, NULL), MSD_OK);
			cr_assert_eq(msd_dev_copy(from, a, NULL, in, N, NULL), MSD_OK);
			cr_assert_eq(msd_dev_copy(to, b, from, a, N, NULL), MSD_OK);
			cr_assert_eq(msd_dev_sync(from, NULL), MSD_OK);
			read_back(to, out, b, N);
			cr_expect_eq(memcmp(in, out, N), 0);
			msd_dev_free(from, a, N);
			msd_dev_free(to, b, N);
		}
		msd_dev_close(from);
		msd_dev_close(to);
	}
}

Test(device, freed_memory_is_given_out_again)
{
	for (size_t k = 0; k < N_KINDS; k++) {
		struct msd_dev *dev = open_kind(k);
		void *p, *again;
		if (dev == NULL)
			continue;
		cr_assert_eq(msd_dev_alloc(dev, 5000, &p, NULL), MSD_OK);
		msd_dev_free(dev, p, 5000);
		cr_assert_eq(msd_dev_alloc(dev, 4999, &again, NULL), MSD_OK);
		cr_expect_eq(again, p);
		msd_dev_free(dev, again, 4999);
		msd_dev_close(dev);
	}
}

Test(device, a_tensor_keeps_its_device_open)
{
	const int64_t shape[] = {3, 4};

	for (size_t k = 0; k < N_KINDS; k++) {
		struct msd_dev *dev = open_kind(k);
		struct msd_tensor *t;
		if (dev == NULL)
			continue;
		cr_assert_eq(msd_dev_tensor(dev,
					    (struct msd_dtype){MSD_DT_FLOAT, 32, 1},
					    shape, 2, &t, NULL),
			     MSD_OK);
		msd_dev_close(dev);
		cr_expect_eq(msd_dev_peek(kinds[k]), dev);
		cr_expect_eq(t->dl.device.type, kinds[k].type);
		msd_obj_unref(&t->obj);
		cr_expect_null(msd_dev_peek(kinds[k]));
	}
}

Test(device, absurd_sizes_are_no_memory)
{
	for (size_t k = 0; k < N_KINDS; k++) {
		struct msd_dev *dev = open_kind(k);
		void *p;
		if (dev == NULL)
			continue;
		cr_expect_eq(msd_dev_alloc(dev, (size_t)1 << 45, &p, NULL), MSD_NOMEM);
		cr_expect_eq(msd_dev_alloc(dev, SIZE_MAX, &p, NULL), MSD_NOMEM);
		cr_assert_eq(msd_dev_alloc(dev, 0, &p, NULL), MSD_OK);
		msd_dev_free(dev, p, 0);
		msd_dev_close(dev);
	}
}

Test(device, memory_of_another_is_refused_by_opencl)
{
	struct msd_dev *dev = open_kind(1);
	struct msd_diag d = {0};
	uint8_t byte = 1;
	void *p;

	if (dev == NULL)
		return;
	cr_assert_eq(msd_dev_alloc(dev, 256, &p, NULL), MSD_OK);
	cr_expect_eq(dev->ops->write(dev, &byte, &byte, 1, &d), MSD_BAD_ARGUMENT);
	cr_expect_not_null(strstr(msd_diag_text(&d), "not memory of opencl:0"));
	cr_expect_eq(dev->ops->write(dev, (char *)p + 255, &byte, 2, &d),
		     MSD_BAD_ARGUMENT);
	msd_dev_free(dev, p, 256);
	msd_diag_finish(&d);
	msd_dev_close(dev);
}

Test(device, workspaces_are_freed_by_their_address)
{
	void *a, *b;

	for (size_t k = 0; k < N_KINDS; k++) {
		struct msd_dev *dev = open_kind(k);
		if (dev == NULL)
			continue;
		cr_assert_eq(msd_dev_workspace_alloc(kinds[k], 100, &a, NULL), MSD_OK);
		cr_assert_eq(msd_dev_workspace_alloc(kinds[k], 100, &b, NULL), MSD_OK);
		msd_dev_workspace_free(a);
		msd_dev_workspace_free(b);
		msd_dev_workspace_free(&k); /* not ours: nothing happens */
		msd_dev_close(dev);
		cr_expect_eq(msd_dev_workspace_alloc(kinds[k], 100, &a, NULL),
			     MSD_UNSUPPORTED);
	}
}

Test(device, a_device_that_is_not_there_is_named)
{
	struct msd_diag d = {0};
	struct msd_dev *dev;

	cr_expect_eq(msd_dev_open((struct msd_device){MSD_DEV_CPU, 3}, &dev, &d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&d), "no device cpu:3: this machine has 1");
	cr_expect_eq(msd_dev_open((struct msd_device){MSD_DEV_METAL, 0}, &dev, &d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&d),
			 "no device metal:0: this build has no such backend");
	msd_diag_finish(&d);
}

Test(device, without_a_loader_opencl_says_what_was_looked_for)
{
	struct msd_diag d = {0};
	struct msd_dev *dev;

	cr_assert_eq(setenv("MODSERD_LIBOPENCL", "libNotThere.so.1", 1), 0);
	cr_expect_eq(msd_dev_open((struct msd_device){MSD_DEV_OPENCL, 0}, &dev, &d),
		     MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&d), "libNotThere.so.1"));
	msd_diag_finish(&d);
}

static void count_device(void *ctx, const struct msd_device_info *info)
{
	size_t *n = ctx;

	cr_expect_neq(info->name[0], '\0');
	cr_expect_gt(info->memory_bytes, 0u);
	if (*n == 0)
		cr_expect_eq(info->device.type, MSD_DEV_CPU);
	(*n)++;
}

Test(device, the_list_begins_with_the_host)
{
	size_t n = 0;

	msd_devices_list(count_device, NULL, &n);
	cr_expect_geq(n, 1u);
}
