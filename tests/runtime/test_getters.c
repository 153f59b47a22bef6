/* What a library tells of its functions by functions of its own. */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "runtime/module/module.h"
#include "support.h"

#define TYPED FIXTURE_DIR "/fixture_typed.so"

static const struct msd_func_info *info_of(struct lib *lib, const char *name)
{
	const struct msd_func_info *info = NULL;
	struct msd_function *fn;

	cr_assert_eq(msd_loaded_find(lib->loaded, name, &info, &fn, &lib->d), MSD_OK,
		     "%s", msd_diag_text(&lib->d));
	return info;
}

Test(getters, types_become_a_signature)
{
	struct lib lib;

	lib_must_open(&lib, TYPED);
	const struct msd_func_info *greet = info_of(&lib, "greet");
	cr_assert_str_eq(lib_signature(&lib, "greet"),
			 "greet(str, Optional[int], Tensor) -> str");
	cr_assert_eq(greet->signature->n_params, 3);
	cr_expect_eq(greet->signature->params[0].kind, MSD_P_STR);
	cr_expect_eq(greet->signature->params[1].kind, MSD_P_OTHER);
	cr_expect_eq(greet->signature->params[2].kind, MSD_P_TENSOR);
	lib_close(&lib);
}

Test(getters, types_in_one_list_begin_with_the_result)
{
	struct lib lib;

	lib_must_open(&lib, TYPED);
	cr_expect_str_eq(lib_signature(&lib, "listed"), "listed(float)");
	lib_close(&lib);
}

Test(getters, metadata_that_is_none_leaves_a_signature_unknown)
{
	struct lib lib;

	lib_must_open(&lib, TYPED);
	cr_expect_str_eq(lib_signature(&lib, "strange"), "");
	lib_close(&lib);
}

Test(getters, a_doc_is_kept_whole)
{
	struct lib lib;

	lib_must_open(&lib, TYPED);
	const char *doc = info_of(&lib, "greet")->doc;
	cr_assert_not_null(doc);
	cr_expect_str_eq(doc, "Greets.\nTwice.");
	cr_expect_null(info_of(&lib, "listed")->doc);
	lib_close(&lib);
}

Test(getters, are_not_asked_without_a_probe)
{
	struct lib lib;

	cr_assert_eq(lib_open(&lib, TYPED, false), MSD_OK);
	cr_expect_null(info_of(&lib, "greet")->doc);
	cr_expect_str_eq(lib_signature(&lib, "greet"), "");
	lib_close(&lib);
}

Test(getters, an_error_object_is_told_with_its_kind)
{
	struct msd_any args[] = {
		{.type = MSD_T_RAW_STR, .as.str = "you"}, msd_int(1), msd_none()};
	struct msd_tensor *t = tensor_counting(1);
	struct msd_any ret;
	struct lib lib;

	lib_must_open(&lib, TYPED);
	args[2] = msd_of_obj(&t->obj);
	cr_assert_eq(lib_call(&lib, "greet", args, 3, &ret), MSD_CALL_FAILED);
	cr_expect_not_null(
		strstr(msd_diag_text(&lib.d), "greet: TypeError: got const char*"),
		"%s", msd_diag_text(&lib.d));
	msd_obj_unref(&t->obj);
	lib_close(&lib);
}
