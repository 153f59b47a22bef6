/* Libraries made by TVM itself, with values computed by TVM: bit for bit, and within 2
 * ulp where the code calls libm. */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/support.h"

static void expect_same(const struct msd_tensor *got, const struct msd_tensor *want,
			const char *what)
{
	cr_expect_eq(memcmp(got->dl.data, want->dl.data, msd_dltensor_bytes(&want->dl)),
		     0, "%s", what);
}

static void expect_close(const struct msd_tensor *got, const struct msd_tensor *want)
{
	const size_t n = msd_dltensor_bytes(&want->dl) / (want->dl.dtype.bits / 8u);

	for (size_t i = 0; i < n; i++) {
		if (want->dl.dtype.bits == 32) {
			float w = ((float *)want->dl.data)[i];
			float ulp = nextafterf(fabsf(w), INFINITY) - fabsf(w);
			cr_expect_leq(fabsf(((float *)got->dl.data)[i] - w), 2 * ulp);
		} else {
			double w = ((double *)want->dl.data)[i];
			double ulp = nextafter(fabs(w), INFINITY) - fabs(w);
			cr_expect_leq(fabs(((double *)got->dl.data)[i] - w), 2 * ulp);
		}
	}
}

/* Call @name with @args and an output like @want as the last; compares and drops all.
 */
static void expect_values(struct lib *lib, const char *name, struct msd_any *args,
			  size_t n, struct msd_tensor *want, bool uses_libm)
{
	struct msd_tensor *out = tensor_like(want);
	struct msd_any ret;

	args[n] = msd_of_obj(&out->obj);
	cr_expect_eq(lib_call(lib, name, args, n + 1, &ret), MSD_OK, "%s",
		     msd_diag_text(&lib->d));
	if (uses_libm) {
		expect_close(out, want);
	} else {
		expect_same(out, want, name);
	}
	for (size_t i = 0; i <= n; i++)
		msd_any_drop(&args[i]);
	msd_obj_unref(&want->obj);
}

static struct msd_any tensor_arg(struct msd_tensor *t)
{
	return msd_of_obj(&t->obj);
}

Test(fixtures, addone_of_027_is_exact)
{
	static const char *const sizes[] = {"1", "17", "1000"};
	const char *path = fixture_path("tvm-0.27/addone.so");
	char npz[4096];
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	(void)snprintf(npz, sizeof(npz), "%s", fixture_path("tvm-0.27/addone.npz"));
	for (size_t i = 0; i < 3; i++) {
		char in[16];
		char out[16];
		struct msd_any args[2];
		(void)snprintf(in, sizeof(in), "in%s", sizes[i]);
		(void)snprintf(out, sizeof(out), "out%s", sizes[i]);
		args[0] = tensor_arg(npz_read(npz, in));
		expect_values(&lib, "addone", args, 1, npz_read(npz, out), false);
		args[0] = tensor_arg(npz_read(npz, in));
		expect_values(&lib, "main", args, 1, npz_read(npz, out), false);
	}
	lib_close(&lib);
}

static void expect_npz(struct lib *lib, const char *npz, const char *name, size_t n_in)
{
	struct msd_any args[4];
	char key[64];

	for (size_t i = 0; i < n_in; i++) {
		(void)snprintf(key, sizeof(key), "%s.in%zu", name, i);
		args[i] = tensor_arg(npz_read(npz, key));
	}
	(void)snprintf(key, sizeof(key), "%s.out", name);
	expect_values(lib, name, args, n_in, npz_read(npz, key),
		      strstr(name, "exp") != NULL);
}

Test(fixtures, multi_of_027_is_exact)
{
	const char *path = fixture_path("tvm-0.27/multi.so");
	struct msd_any args[4];
	char npz[4096];
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	(void)snprintf(npz, sizeof(npz), "%s", fixture_path("tvm-0.27/multi.npz"));
	expect_npz(&lib, npz, "add_f16", 2);
	expect_npz(&lib, npz, "add_i8", 2);
	expect_npz(&lib, npz, "exp_f64", 1);
	expect_npz(&lib, npz, "matmul", 2);
	expect_npz(&lib, npz, "mul_i32", 2);
	expect_npz(&lib, npz, "not_bool", 1);
	expect_npz(&lib, npz, "par_add", 2);
	expect_npz(&lib, npz, "ws_f32", 1);
	args[0] = tensor_arg(npz_read(npz, "scale.in0"));
	args[1] = msd_float(2.5);
	args[2] = msd_int(3);
	expect_values(&lib, "scale", args, 3, npz_read(npz, "scale.out"), false);
	lib_close(&lib);
}

/* The arrays hold raw bytes: give them the dtype that the signature asks for. */
static struct msd_tensor *as_dtype(struct msd_tensor *raw, const char *name)
{
	struct msd_dtype t;

	cr_assert(msd_dtype_parse(name, strlen(name), &t));
	raw->dl.shape[0] = (int64_t)(msd_dltensor_bytes(&raw->dl) * 8 / t.bits);
	raw->dl.ndim = 1;
	raw->dl.dtype = t;
	return raw;
}

Test(fixtures, every_dtype_of_027_is_exact)
{
	static const char *const names[] = {"bfloat16", "float8_e4m3fn", "float8_e5m2",
					    "uint8",    "int16",         "int64",
					    "uint32"};
	const char *path = fixture_path("tvm-0.27/dtypes.so");
	char npz[4096];
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	(void)snprintf(npz, sizeof(npz), "%s", fixture_path("tvm-0.27/dtypes.npz"));
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		struct msd_any args[2];
		char key[64];
		(void)snprintf(key, sizeof(key), "id_%s.in", names[i]);
		args[0] = tensor_arg(as_dtype(npz_read(npz, key), names[i]));
		(void)snprintf(key, sizeof(key), "id_%s.out", names[i]);
		struct msd_tensor *want = as_dtype(npz_read(npz, key), names[i]);
		(void)snprintf(key, sizeof(key), "id_%s", names[i]);
		expect_values(&lib, key, args, 1, want, false);
	}
	lib_close(&lib);
}

static struct msd_tensor *classic_npy(const char *name, char part)
{
	char file[256];

	(void)snprintf(file, sizeof(file), "tvm-0.8/multi_cpu/%s_%c.npy", name, part);
	return npy_read_file(fixture_path(file));
}

Test(fixtures, multi_cpu_of_08_is_exact)
{
	static const char *const names[] = {"add_float32", "add_float64", "add_float16",
					    "add_int8",    "add_uint8",   "add_int16",
					    "add_int32",   "add_int64",   "add_bool"};
	const char *path = fixture_path("tvm-0.8/multi_cpu/multi_cpu.so");
	struct msd_any args[4];
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		args[0] = tensor_arg(classic_npy(names[i], 'a'));
		args[1] = tensor_arg(classic_npy(names[i], 'b'));
		expect_values(&lib, names[i], args, 2, classic_npy(names[i], 'c'),
			      false);
	}
	args[0] = msd_float(1.5);
	args[1] = tensor_arg(classic_npy("scale_shift", 'a'));
	args[2] = msd_int(7);
	expect_values(&lib, "scale_shift", args, 3, classic_npy("scale_shift", 'c'),
		      false);
	args[0] = tensor_arg(classic_npy("parallel_exp", 'a'));
	expect_values(&lib, "parallel_exp", args, 1, classic_npy("parallel_exp", 'c'),
		      true);
	lib_close(&lib);
}

Test(fixtures, scalars_of_08_come_back)
{
	const char *path = fixture_path("tvm-0.8/multi_cpu/multi_cpu.so");
	struct msd_any ints[] = {msd_int(3), msd_int(4)};
	struct msd_any f = msd_float(5);
	struct msd_any ret;
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	cr_expect_eq(lib_call(&lib, "ret_i", ints, 2, &ret), MSD_OK);
	cr_expect(ret.type == MSD_T_INT && ret.as.i == 11);
	cr_expect_eq(lib_call(&lib, "ret_f", &f, 1, &ret), MSD_OK);
	cr_expect(ret.type == MSD_T_FLOAT && ret.as.f == 2.5);
	lib_close(&lib);
}

Test(fixtures, signatures_of_08_are_learned)
{
	const char *path = fixture_path("tvm-0.8/multi_cpu/multi_cpu.so");
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	cr_expect_str_eq(lib_signature(&lib, "scale_shift"),
			 "scale_shift(float, Tensor([?], float32), int, "
			 "Tensor([?], float32))");
	cr_expect_str_eq(
		lib_signature(&lib, "parallel_exp"),
		"parallel_exp(Tensor([?, 64], float32), Tensor([?, ?], float32))");
	cr_expect_str_eq(lib_signature(&lib, "ret_i"), "ret_i(int, int)");
	lib_close(&lib);
}

Test(fixtures, device_module_without_its_driver_is_not_placed)
{
	static const char *const paths[] = {"tvm-0.27/addone_cuda.so",
					    "tvm-0.8/cuda_ops/cuda_ops_ptx.so"};

	cr_assert_eq(setenv("MODSERD_LIBCUDA", "/nowhere/libcuda.so.1", 1), 0);
	for (size_t i = 0; i < 2; i++) {
		const char *path = fixture_path(paths[i]);
		struct lib lib;
		if (path == NULL)
			return;
		lib_must_open(&lib, path);
		cr_expect_eq(
			msd_loaded_place(lib.loaded, (struct msd_device){0, 0}, &lib.d),
			MSD_UNSUPPORTED);
		cr_expect_not_null(strstr(msd_diag_text(&lib.d),
					  "no device cuda:0: no CUDA driver: /nowhere"),
				   "%s", msd_diag_text(&lib.d));
		lib_close(&lib);
	}
}

Test(fixtures, executor_that_cannot_run_is_an_entry_that_says_so)
{
	const char *path = fixture_path("tvm-0.8/mlp_cuda/mlp_cuda.so");
	struct msd_any ret;
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	cr_expect_eq(msd_loaded_place(lib.loaded, (struct msd_device){MSD_DEV_CPU, 0},
				      &lib.d),
		     MSD_OK);
	cr_expect_eq(lib_call(&lib, "run", NULL, 0, &ret), MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&lib.d),
			 "run: module 0 (GraphExecutorFactory) cannot run here: its "
			 "tensors are on cuda, but the module is on cpu:0");
	lib_close(&lib);
}

Test(fixtures, code_against_tvms_cpp_runtime_is_refused)
{
	const char *path = fixture_path("tvm-0.8/byoc_metadata/byoc_metadata.so");
	struct lib lib;

	if (path == NULL)
		return;
	cr_expect_eq(lib_open(&lib, path, true), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "TVM's C++ runtime"));
	lib_close(&lib);
}

Test(fixtures, several_library_nodes_are_one_library)
{
	const char *path = fixture_path("tvm-0.8/synthetic/style07.so");
	struct lib lib;

	if (path == NULL)
		return;
	lib_must_open(&lib, path);
	cr_expect_neq(lib_signature(&lib, "vecadd")[0], '\0');
	lib_close(&lib);
}
