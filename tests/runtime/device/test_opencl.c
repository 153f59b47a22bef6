/* Code compiled by TVM for OpenCL on whatever OpenCL device is first here (PoCL in CI),
 * with values that TVM computed: bit for bit. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/device/device_support.h"
#include "tests/runtime/device/opencl_place.h"

static void must_call(struct opencl_place *p, const char *name, struct msd_any *args,
		      size_t n)
{
	struct msd_any ret;
	msd_err err = lib_call(&p->lib, name, args, n, &ret);

	cr_assert(err == MSD_OK, "%s", msd_diag_text(&p->lib.d));
}

/* f(a, b, c) with c as the fixture has it. */
static void expect_three(struct opencl_place *p, const char *name, const char *a,
			 const char *b, const char *c)
{
	struct msd_tensor *want = opencl_array(p, c);
	struct msd_any args[] = {
		to_device(p->dev, opencl_array(p, a)),
		to_device(p->dev, opencl_array(p, b)),
		zeros_on(p->dev, want),
	};

	must_call(p, name, args, 3);
	expect_on_device(p->dev, args[2], want);
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
}

Test(opencl, vecadd_of_08_is_exact)
{
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/opencl_vecadd/opencl_vecadd.so"))
		return;
	cr_expect_eq(msd_loaded_device(p.lib.loaded).type, MSD_DEV_OPENCL);
	for (int i = 0; i < 3; i++)
		expect_three(&p, "vecadd", "vecadd_a", "vecadd_b", "vecadd_c");
	opencl_place_close(&p);
}

Test(opencl, matmul_of_08_runs_over_two_dimensions)
{
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/opencl_pair/opencl_pair.so"))
		return;
	expect_three(&p, "matmul", "matmul_a", "matmul_b", "matmul_c");
	opencl_place_close(&p);
}

Test(opencl, scalars_of_every_width_reach_the_kernel)
{
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/opencl_pair/opencl_pair.so"))
		return;
	struct msd_tensor *want = opencl_array(&p, "scale_shift_c");
	struct msd_any args[] = {
		msd_float(0.25),
		to_device(p.dev, opencl_array(&p, "scale_shift_a")),
		msd_int(-3),
		zeros_on(p.dev, want),
	};
	must_call(&p, "scale_shift", args, 4);
	expect_on_device(p.dev, args[3], want);
	msd_any_drop(&args[1]);
	opencl_place_close(&p);
}

Test(opencl, containers_of_06_and_07_run)
{
	static const char *const files[] = {"tvm-0.8/synthetic/style06.so",
					    "tvm-0.8/synthetic/style07.so"};

	for (size_t i = 0; i < 2; i++) {
		struct opencl_place p;
		if (!opencl_place_open(&p, files[i]))
			return;
		(void)snprintf(p.directory, sizeof(p.directory),
			       "tvm-0.8/opencl_vecadd");
		expect_three(&p, "vecadd", "vecadd_a", "vecadd_b", "vecadd_c");
		opencl_place_close(&p);
	}
}

Test(opencl, kernels_of_two_levels_are_found)
{
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/two_level/two_level.so"))
		return;
	expect_three(&p, "vecadd1", "a", "b", "vecadd_c");
	expect_three(&p, "vecadd2", "a", "b", "vecadd_c");
	opencl_place_close(&p);
}

Test(opencl, host_function_of_a_device_module_runs_on_the_host)
{
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/two_level/two_level.so"))
		return;
	struct msd_tensor *want = opencl_array(&p, "cpu_double_c");
	struct msd_tensor *a = opencl_array(&p, "a");
	struct msd_tensor *c = tensor_like(want);
	struct msd_any args[] = {msd_of_obj(&a->obj), msd_of_obj(&c->obj)};
	must_call(&p, "cpu_double", args, 2);
	cr_expect_eq(memcmp(c->dl.data, want->dl.data, msd_dltensor_bytes(&want->dl)),
		     0);
	msd_obj_unref(&a->obj);
	msd_obj_unref(&c->obj);
	msd_obj_unref(&want->obj);
	opencl_place_close(&p);
}

Test(opencl, addone_of_027_is_exact)
{
	static const char *const sizes[] = {"1", "17", "1000"};
	struct opencl_place p;
	char npz[4096];

	if (!opencl_place_open(&p, "tvm-0.27/addone_opencl.so"))
		return;
	(void)snprintf(npz, sizeof(npz), "%s", fixture_path("tvm-0.27/addone.npz"));
	for (size_t i = 0; i < 3; i++) {
		char in[16];
		char out[16];
		(void)snprintf(in, sizeof(in), "in%s", sizes[i]);
		(void)snprintf(out, sizeof(out), "out%s", sizes[i]);
		struct msd_tensor *want = npz_read(npz, out);
		struct msd_any args[] = {to_device(p.dev, npz_read(npz, in)),
					 zeros_on(p.dev, want)};
		must_call(&p, "addone", args, 2);
		expect_on_device(p.dev, args[1], want);
		msd_any_drop(&args[0]);
	}
	opencl_place_close(&p);
}

Test(opencl, graph_runs_on_the_device)
{
	struct msd_any ret;
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/mlp_opencl/mlp_opencl.so"))
		return;
	struct msd_tensor *want = opencl_array(&p, "out_0");
	struct msd_any in = to_device(p.dev, opencl_array(&p, "in_data"));
	for (int i = 0; i < 2; i++) {
		cr_assert_eq(lib_call(&p.lib, "run", &in, 1, &ret), MSD_OK, "%s",
			     msd_diag_text(&p.lib.d));
		cr_expect_eq(msd_any_dltensor(&ret)->device.type, MSD_DEV_OPENCL);
		msd_obj_ref(&want->obj);
		expect_on_device(p.dev, ret, want);
	}
	msd_any_drop(&in);
	msd_obj_unref(&want->obj);
	opencl_place_close(&p);
}

Test(opencl, graph_takes_inputs_from_the_host)
{
	struct msd_any ret;
	struct opencl_place p;

	if (!opencl_place_open(&p, "tvm-0.8/convnet_opencl/convnet_opencl.so"))
		return;
	struct msd_tensor *data = opencl_array(&p, "in_data");
	struct msd_any in = msd_of_obj(&data->obj);
	cr_assert_eq(lib_call(&p.lib, "run", &in, 1, &ret), MSD_OK, "%s",
		     msd_diag_text(&p.lib.d));
	struct msd_array *outs = (struct msd_array *)(void *)ret.as.obj;
	for (int64_t i = 0; i < 2; i++) {
		struct msd_any out;
		cr_assert(msd_any_copy(&outs->items[i], &out));
		expect_on_device(p.dev, out,
				 opencl_array(&p, i == 0 ? "out_0" : "out_1"));
	}
	msd_any_drop(&ret);
	msd_any_drop(&in);
	opencl_place_close(&p);
}

Test(opencl, graph_of_a_device_says_where_it_would_run)
{
	const struct msd_device cpu = {MSD_DEV_CPU, 0};
	const char *path = fixture_path("tvm-0.8/mlp_opencl/mlp_opencl.so");
	struct msd_any ret;
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	cr_assert_eq(msd_loaded_place(lib.loaded, cpu, &lib.d), MSD_OK);
	cr_assert_eq(lib_call(&lib, "run", NULL, 0, &ret), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d),
				  "its tensors are on opencl, but the module is "
				  "on cpu:0"));
	lib_close(&lib);
}
