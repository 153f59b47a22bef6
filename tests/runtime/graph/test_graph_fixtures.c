/* Graph executors made by TVM 0.8, with the outputs that TVM computed. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/support.h"

static const char *path_of(const char *model, const char *file)
{
	char name[256];

	(void)snprintf(name, sizeof(name), "tvm-0.8/%s/%s", model, file);
	return fixture_path(name);
}

/* Order of floats by bit pattern, so that neighbours differ by one. */
static int64_t float_rank(const void *p)
{
	int32_t bits;

	memcpy(&bits, p, sizeof(bits));
	return bits < 0 ? (int64_t)INT32_MIN - bits : bits;
}

static void expect_output(const char *model, int i, const struct msd_any *v,
			  int64_t ulps)
{
	const struct msd_dltensor *got = msd_any_dltensor(v);
	char file[32];

	(void)snprintf(file, sizeof(file), "out_%d.npy", i);
	struct msd_tensor *want = npy_read_file(path_of(model, file));
	cr_assert_not_null(got);
	cr_assert_eq(got->ndim, want->dl.ndim);
	cr_assert_eq(
		memcmp(got->shape, want->dl.shape, (size_t)got->ndim * sizeof(int64_t)),
		0);
	for (size_t at = 0; at < msd_dltensor_bytes(got); at += sizeof(float)) {
		int64_t off = float_rank((char *)got->data + at) -
			      float_rank((char *)want->dl.data + at);
		cr_assert(off <= ulps && off >= -ulps, "%s %s at byte %zu", model, file,
			  at);
	}
	msd_obj_unref(&want->obj);
}

static void expect_model(const char *model, int64_t ulps)
{
	char so[64];
	struct lib lib;
	struct msd_any ret;

	(void)snprintf(so, sizeof(so), "%s.so", model);
	if (path_of(model, so) == NULL)
		return;
	lib_must_open(&lib, path_of(model, so));
	struct msd_tensor *x = npy_read_file(path_of(model, "in_data.npy"));
	struct msd_any arg = msd_of_obj(&x->obj);
	for (int run = 0; run < 2; run++) { /* the second on used memory */
		cr_assert_eq(lib_call(&lib, "run", &arg, 1, &ret), MSD_OK, "%s",
			     msd_diag_text(&lib.d));
		if (ret.type == MSD_T_ARRAY) {
			const struct msd_array *t = ret.as.p;
			for (int i = 0; i < (int)t->size; i++)
				expect_output(model, i, &t->items[i], ulps);
		} else {
			expect_output(model, 0, &ret, ulps);
		}
		msd_any_drop(&ret);
	}
	msd_any_drop(&arg);
	lib_close(&lib);
}

/* All end in a softmax: expf of another libm may differ in the last bits. */
Test(graph_fixtures, mlp)
{
	expect_model("mlp_llvm", 2);
}

Test(graph_fixtures, convnet_with_two_outputs)
{
	expect_model("convnet_llvm", 2);
}

Test(graph_fixtures, resnet18)
{
	expect_model("resnet18_llvm", 2);
}

Test(graph_fixtures, parameters_linked_into_the_library)
{
	expect_model("mlp_linkparams", 2);
}

Test(graph_fixtures, signature_has_inputs_and_outputs)
{
	struct lib lib;

	if (path_of("convnet_llvm", "convnet_llvm.so") == NULL)
		return;
	lib_must_open(&lib, path_of("convnet_llvm", "convnet_llvm.so"));
	cr_assert_str_eq(lib_signature(&lib, "run"),
			 "run(data: Tensor([1, 3, 16, 16], float32)) -> "
			 "(Tensor([1, 5], float32), Tensor([4, 4], float32))");
	lib_close(&lib);
}

Test(graph_fixtures, a_wrong_argument_is_named)
{
	struct lib lib;
	struct msd_any arg = msd_int(3);
	struct msd_any ret;

	if (path_of("mlp_llvm", "mlp_llvm.so") == NULL)
		return;
	lib_must_open(&lib, path_of("mlp_llvm", "mlp_llvm.so"));
	cr_assert_eq(lib_call(&lib, "run", &arg, 1, &ret), MSD_BAD_ARGUMENT);
	cr_assert_str_eq(msd_diag_text(&lib.d),
			 "run: argument 0 (data): expected a float32 tensor of rank 2, "
			 "got int");
	lib_close(&lib);
}

Test(graph_fixtures, a_graph_for_a_device_that_is_not_here_says_so)
{
	struct lib lib;
	struct msd_any ret;

	if (path_of("mlp_cuda", "mlp_cuda.so") == NULL)
		return;
	lib_must_open(&lib, path_of("mlp_cuda", "mlp_cuda.so"));
	cr_assert_eq(msd_loaded_place(lib.loaded, (struct msd_device){MSD_DEV_CPU, 0},
				      &lib.d),
		     MSD_OK);
	cr_assert_eq(lib_call(&lib, "run", NULL, 0, &ret), MSD_UNSUPPORTED);
	cr_assert_not_null(strstr(msd_diag_text(&lib.d), "cuda"), "%s",
			   msd_diag_text(&lib.d));
	lib_close(&lib);
}
