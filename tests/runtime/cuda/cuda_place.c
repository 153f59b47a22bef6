#include "tests/runtime/cuda/cuda_place.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/device/device_support.h"

bool place_open(struct place *p, struct msd_dev *dev, const char *file,
		msd_err *ret_err)
{
	const char *path = fixture_path(file);

	*p = (struct place){.dev = dev};
	if (path == NULL)
		return false;
	(void)snprintf(p->file, sizeof(p->file), "%s", file);
	lib_must_open(&p->lib, path);
	msd_err err = msd_loaded_place(p->lib.loaded, dev->device, &p->lib.d);
	if (ret_err != NULL) {
		*ret_err = err;
	} else {
		cr_assert(err == MSD_OK, "%s: %s", file, msd_diag_text(&p->lib.d));
	}
	return true;
}

void place_close(struct place *p)
{
	lib_close(&p->lib);
}

static struct msd_tensor *array(const struct place *p, const char *name)
{
	char path[256];

	(void)snprintf(path, sizeof(path), "%.*s/%s.npy",
		       (int)(strrchr(p->file, '/') - p->file), p->file, name);
	const char *found = fixture_path(path);
	cr_assert_not_null(found);
	return npy_read_file(found);
}

static struct msd_tensor *member(const char *npz, const char *key)
{
	char path[4096];

	(void)snprintf(path, sizeof(path), "%s", fixture_path(npz));
	return npz_read(path, key);
}

static void call(struct place *p, const char *function, struct msd_any *args, size_t n)
{
	struct msd_any ret;
	msd_err err = lib_call(&p->lib, function, args, n, &ret);

	cr_assert(err == MSD_OK, "%s: %s", function, msd_diag_text(&p->lib.d));
}

/* Floats on the device within @tolerance of @want; drops both. */
static void expect_near(struct msd_dev *dev, struct msd_any got,
			struct msd_tensor *want, double tolerance)
{
	struct msd_tensor *back = tensor_like(want);
	const size_t n = msd_dltensor_bytes(&want->dl);
	struct msd_diag d = {0};
	msd_err err = msd_dev_copy(NULL, back->dl.data, dev,
				   msd_any_dltensor(&got)->data, n, &d);

	if (err == MSD_OK)
		err = msd_dev_sync(dev, &d);
	cr_assert(err == MSD_OK, "%s", msd_diag_text(&d));
	const float *a = back->dl.data;
	const float *b = want->dl.data;
	for (size_t i = 0; i < n / sizeof(*a); i++) {
		cr_assert(fabs((double)a[i] - b[i]) <=
				  tolerance * (1.0 + fabs((double)b[i])),
			  "element %zu: %g instead of %g", i, (double)a[i],
			  (double)b[i]);
	}
	msd_any_drop(&got);
	msd_obj_unref(&back->obj);
	msd_obj_unref(&want->obj);
}

void expect_arrays(struct place *p, const char *function, const char *const *names,
		   size_t n, double tolerance)
{
	struct msd_any args[4];
	struct msd_tensor *want = array(p, names[n - 1]);

	for (size_t i = 0; i + 1 < n; i++)
		args[i] = to_device(p->dev, array(p, names[i]));
	args[n - 1] = zeros_on(p->dev, want);
	call(p, function, args, n);
	for (size_t i = 0; i + 1 < n; i++)
		msd_any_drop(&args[i]);
	if (tolerance > 0) {
		expect_near(p->dev, args[n - 1], want, tolerance);
	} else {
		expect_on_device(p->dev, args[n - 1], want);
	}
}

void expect_scale_shift(struct place *p)
{
	struct msd_tensor *want = array(p, "scale_shift_c");
	struct msd_any args[] = {
		msd_float(0.25),
		to_device(p->dev, array(p, "scale_shift_a")),
		msd_int(-3),
		zeros_on(p->dev, want),
	};

	call(p, "scale_shift", args, 4);
	msd_any_drop(&args[1]);
	expect_near(p->dev, args[3], want, 1e-6);
}

void expect_addone(struct place *p)
{
	static const char *const sizes[] = {"1", "17", "1000"};
	char in[16];
	char out[16];

	for (size_t i = 0; i < 3; i++) {
		(void)snprintf(in, sizeof(in), "in%s", sizes[i]);
		(void)snprintf(out, sizeof(out), "out%s", sizes[i]);
		struct msd_tensor *want = member("tvm-0.27/addone.npz", out);
		struct msd_any args[] = {
			to_device(p->dev, member("tvm-0.27/addone.npz", in)),
			zeros_on(p->dev, want),
		};
		call(p, "addone", args, 2);
		msd_any_drop(&args[0]);
		expect_on_device(p->dev, args[1], want);
	}
}

void expect_axpb(struct place *p)
{
	struct msd_tensor *want = member("tvm-0.27/axpb_cuda.npz", "out");
	struct msd_any args[] = {
		to_device(p->dev, member("tvm-0.27/axpb_cuda.npz", "in0")),
		msd_float(1.5),
		msd_int(3),
		zeros_on(p->dev, want),
	};

	call(p, "axpb", args, 4);
	msd_any_drop(&args[0]);
	expect_near(p->dev, args[3], want, 1e-6);
}

void expect_rev256(struct place *p)
{
	struct msd_tensor *want = member("tvm-0.27/rev256_cuda.npz", "out");
	struct msd_any args[] = {
		to_device(p->dev, member("tvm-0.27/rev256_cuda.npz", "in0")),
		zeros_on(p->dev, want),
	};

	call(p, "rev256", args, 2);
	msd_any_drop(&args[0]);
	expect_on_device(p->dev, args[1], want);
}
