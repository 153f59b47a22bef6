/* A graph model of TVM 0.7, in a container of the tests' own writer. */
#include <criterion/criterion.h>

#include "runtime/load/loaded.h"
#include "runtime/module/instance.h"
#include "tests/runtime/support.h"

static void expect_runs(const char *path)
{
	struct lib lib;
	struct msd_any x = msd_of_obj(&tensor_counting(3)->obj);
	struct msd_any ret;

	lib_must_open(&lib, path);
	cr_expect_str_eq(lib_signature(&lib, "run"),
			 "run(x: Tensor([3], float32)) -> (Tensor([3], float32))");
	for (int run = 0; run < 2; run++) {
		cr_assert_eq(lib_call(&lib, "run", &x, 1, &ret), MSD_OK, "%s",
			     msd_diag_text(&lib.d));
		const float *y = msd_any_dltensor(&ret)->data;
		cr_expect(y[0] == 20 && y[1] == 42 && y[2] == 64);
		msd_any_drop(&ret);
	}
	msd_any_drop(&x);
	lib_close(&lib);
}

Test(graph07, a_model_runs)
{
	expect_runs(GRAPH07_LIBRARY);
}

/* The library stands alone below its root, and its code finds what the root imports. */
Test(graph07, code_sees_what_the_root_imports)
{
	expect_runs(GRAPH07_ONE_LIBRARY);
}

Test(graph07, a_model_has_instances)
{
	struct lib lib;
	struct msd_instance *instance;

	lib_must_open(&lib, GRAPH07_LIBRARY);
	cr_assert_eq(msd_loaded_instance(lib.loaded, &instance, &lib.d), MSD_OK, "%s",
		     msd_diag_text(&lib.d));
	msd_instance_close(instance);
	lib_close(&lib);
}
