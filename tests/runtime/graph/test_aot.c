/* Ahead-of-time compiled models: containers of the tests' own writer around C code that
 * acts like TVM's. No artifact of TVM is at hand. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/executor/aot/metadata.h"
#include "tests/runtime/support.h"

static void expect_sums(const char *path)
{
	struct lib lib;
	struct msd_tensor *x = tensor_counting(3);
	struct msd_any arg = msd_of_obj(&x->obj);
	struct msd_any ret;

	lib_must_open(&lib, path);
	for (int run = 0; run < 2; run++) {
		cr_assert_eq(lib_call(&lib, "run", &arg, 1, &ret), MSD_OK, "%s",
			     msd_diag_text(&lib.d));
		const struct msd_array *tuple = ret.as.p;
		const float *sum = msd_any_dltensor(&tuple->items[0])->data;
		const float *twice = msd_any_dltensor(&tuple->items[1])->data;
		cr_expect(sum[0] == 11 && sum[1] == 22 && sum[2] == 33);
		cr_expect(twice[2] == 66);
		msd_any_drop(&ret);
	}
	msd_any_drop(&arg);
	lib_close(&lib);
}

Test(aot, a_model_runs)
{
	expect_sums(AOT_LIBRARY);
}

Test(aot, planned_memory_is_passed)
{
	expect_sums(AOT_PLANNED_LIBRARY);
}

Test(aot, signature_leaves_bound_parameters_out)
{
	struct lib lib;

	lib_must_open(&lib, AOT_LIBRARY);
	cr_assert_str_eq(lib_signature(&lib, "run"),
			 "run(x: Tensor([3], float32)) -> (output0: Tensor([3], "
			 "float32), output1: Tensor([3], float32))");
	lib_close(&lib);
}

Test(aot, a_wrong_argument_is_named)
{
	struct lib lib;
	struct msd_any arg = msd_float(1);
	struct msd_any ret;

	lib_must_open(&lib, AOT_LIBRARY);
	cr_assert_eq(lib_call(&lib, "run", &arg, 1, &ret), MSD_BAD_ARGUMENT);
	cr_assert_not_null(strstr(msd_diag_text(&lib.d), "argument 0 (x): expected a "
							 "float32 tensor"));
	lib_close(&lib);
}

Test(aot, metadata_that_cannot_be_is_refused)
{
	const int64_t bad[] = {-1};
	const struct msd_aot_tensor t = {
		.name = "x", .shape = bad, .ndim = 1, .dtype = {MSD_DT_FLOAT, 32, 1}};
	struct msd_aot_metadata m = {.inputs = &t, .n_inputs = 1, .model = "default"};

	cr_assert_eq(msd_aot_metadata_check(&m, NULL), MSD_BAD_ARTIFACT);
	m.n_inputs = -1;
	cr_assert_eq(msd_aot_metadata_check(&m, NULL), MSD_BAD_ARTIFACT);
	m.n_inputs = 0;
	cr_assert_eq(msd_aot_metadata_check(&m, NULL), MSD_OK);
	m.model = NULL;
	cr_assert_eq(msd_aot_metadata_check(&m, NULL), MSD_BAD_ARTIFACT);
}
