/*
 * Relax models through a worker, against the outputs that TVM's own VM computed. Needs
 * the fixtures: MODSERD_FIXTURES, else ../shared/fixtures beside the source tree.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/value.h"
#include "tests/daemon/worker/driver.h"
#include "tests/runtime/relax/npy.h"

static struct driver w;
static struct msd_buf npz;

/* False, with a line that says so, when the fixture is not there. */
static bool open_model(const char *stem)
{
	const char *root = getenv("MODSERD_FIXTURES");
	char path[4096];
	int n = snprintf(path, sizeof(path), "%s/tvm-0.27/%s.npz",
			 root != NULL ? root : MSD_SOURCE_DIR "/../shared/fixtures",
			 stem);

	npz = file_read(path);
	if (npz.n == 0) {
		(void)fprintf(stderr, "skipped: fixture tvm-0.27/%s is not here\n",
			      stem);
		return false;
	}
	memcpy(path + n - 3, "so", sizeof("so"));
	driver_open(&w, path);
	return true;
}

static struct msd_tensor *array_of(const char *name)
{
	return npy_read(npz_find((struct msd_span){npz.p, npz.n}, name));
}

/* Call @function with the inputs of the file. */
static void call_model(const char *function, size_t n_inputs)
{
	struct msd_buf b = {0};
	char name[16];

	(void)driver_call(&w, &b, function, n_inputs);
	for (size_t i = 0; i < n_inputs; i++) {
		(void)snprintf(name, sizeof(name), "in%zu", i);
		struct msd_tensor *a = array_of(name);
		struct msd_wire_tensor t = {.dtype = a->dl.dtype,
					    .bytes = msd_dltensor_bytes(&a->dl),
					    .ndim = (uint32_t)a->dl.ndim};
		memcpy(t.shape, a->dl.shape, t.ndim * sizeof(int64_t));
		memcpy(driver_put(&w, &b, &t), a->dl.data, t.bytes);
		msd_obj_unref(&a->obj);
	}
	driver_send(&w, &b);
	(void)driver_receive(&w);
	cr_assert_str_eq(driver_error(&w), "OK", "%s", driver_message(&w));
}

/* @v is the array @name, up to what another libm makes of it. */
static void expect(const struct msd_wire_value *v, const char *name)
{
	struct msd_tensor *a = array_of(name);
	struct msd_wire_tensor t;

	cr_assert_eq(v->kind, MSD_K_TENSOR);
	cr_assert_eq(msd_wire_tensor_read(v->as.tensor.p, v->as.tensor.n, &t, NULL),
		     MSD_OK);
	cr_assert_eq(t.ndim, a->dl.ndim);
	cr_assert_eq(t.bytes, msd_dltensor_bytes(&a->dl));
	const float *got = driver_at(&w, &t);
	for (size_t i = 0; i < t.bytes / sizeof(float); i++)
		cr_assert_float_eq(got[i], ((float *)a->dl.data)[i], 1e-5);
	msd_obj_unref(&a->obj);
}

Test(worker_model, returns_what_tvm_computed)
{
	struct msd_wire_value v;

	if (!open_model("relax_mlp"))
		return;
	for (int again = 0; again < 3; again++) {
		call_model("forward", 5);
		driver_return(&w, &v);
		expect(&v, "out0");
	}
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
	msd_buf_finish(&npz);
}

Test(worker_model, returns_a_tuple_of_tensors)
{
	struct msd_wire_value v, item;

	if (!open_model("ctrl"))
		return;
	call_model("main", 2);
	driver_return(&w, &v);
	cr_assert(v.kind == MSD_K_TUPLE && v.as.tuple.n == 2);
	struct msd_cur c = msd_cur_of(v.as.tuple.items);
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	expect(&item, "out0");
	cr_assert_eq(msd_value_read(&c, &item, NULL), MSD_OK);
	expect(&item, "out1");
	cr_assert_eq(driver_end(&w), 0, "%s", driver_log(&w));
	msd_buf_finish(&npz);
}
