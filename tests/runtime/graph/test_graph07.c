/* A graph model of TVM 0.7, in a container of the tests' own writer. */
#include <criterion/criterion.h>
#include <string.h>

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

Test(graph07, parameters_come_with_their_names)
{
	struct lib lib;
	struct msd_any ret;

	lib_must_open(&lib, GRAPH07_LIBRARY);
	cr_assert_eq(lib_call(&lib, "get_graph_params", NULL, 0, &ret), MSD_OK, "%s",
		     msd_diag_text(&lib.d));
	cr_assert_eq(ret.type, MSD_T_ARRAY);
	const struct msd_array *all = ret.as.p;
	cr_assert_eq(all->size, 1);
	const struct msd_array *pair = all->items[0].as.p;
	struct msd_span name;
	cr_assert(msd_any_str(&pair->items[0], &name) && msd_span_is(name, "w"));
	const float *w = msd_any_dltensor(&pair->items[1])->data;
	cr_expect(w[0] == 10 && w[1] == 20 && w[2] == 30, "%f", w[0]);
	msd_any_drop(&ret);
	lib_close(&lib);
}

Test(graph07, the_models_name_is_told_and_what_to_call_in_its_place)
{
	struct lib lib;
	struct msd_any ret;

	lib_must_open(&lib, GRAPH07_LIBRARY);
	cr_assert_eq(lib_call(&lib, "list_module_names", NULL, 0, &ret), MSD_OK, "%s",
		     msd_diag_text(&lib.d));
	const struct msd_array *names = ret.as.p;
	struct msd_span name;
	cr_assert(msd_any_str(&names->items[0], &name) && msd_span_is(name, "default"));
	msd_any_drop(&ret);
	cr_assert_eq(lib_call(&lib, "default", NULL, 0, &ret), MSD_NOT_FOUND);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "`run` is the whole model"),
			   "%s", msd_diag_text(&lib.d));
	lib_close(&lib);
}
