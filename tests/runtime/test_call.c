#include <criterion/criterion.h>
#include <string.h>

#include "runtime/pool/pool.h"
#include "tests/runtime/support.h"

#define LIBRARY(name) FIXTURE_DIR "/fixture_" name ".so"

static void expect_failure(struct lib *lib, const char *name, msd_err code,
			   const char *text)
{
	struct msd_any ret;

	cr_expect_eq(lib_call(lib, name, NULL, 0, &ret), code);
	cr_expect_str_eq(msd_diag_text(&lib->d), text);
}

Test(call, modern_function_fills_its_output)
{
	struct msd_tensor *x = tensor_counting(100);
	struct msd_tensor *y = tensor_like(x);
	struct msd_any args[] = {msd_of_obj(&x->obj), msd_of_obj(&y->obj)};
	struct msd_any ret;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("modern"));
	cr_assert_eq(lib_call(&lib, "addone", args, 2, &ret), MSD_OK);
	cr_expect_eq(ret.type, MSD_T_NONE);
	for (int i = 0; i < 100; i++)
		cr_expect_eq(((float *)y->dl.data)[i], (float)(i + 1));
	lib_close(&lib);
	msd_obj_unref(&x->obj);
	msd_obj_unref(&y->obj);
}

Test(call, scalars_and_text_come_back)
{
	struct msd_any i = msd_int(21);
	struct msd_any f = msd_float(5);
	struct msd_any ret;
	struct msd_span text;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("modern"));
	cr_assert_eq(lib_call(&lib, "ret_int", &i, 1, &ret), MSD_OK);
	cr_expect(ret.type == MSD_T_INT && ret.as.i == 42);
	cr_assert_eq(lib_call(&lib, "ret_float", &f, 1, &ret), MSD_OK);
	cr_expect(ret.type == MSD_T_FLOAT && ret.as.f == 2.5);
	cr_assert_eq(lib_call(&lib, "ret_text", NULL, 0, &ret), MSD_OK);
	cr_expect_eq(ret.type, MSD_T_STR); /* owned: the library's was borrowed */
	cr_expect(msd_any_str(&ret, &text) && msd_span_is(text, "borrowed text"));
	msd_any_drop(&ret);
	lib_close(&lib);
}

Test(call, callee_error_arrives_whole)
{
	struct lib lib;

	lib_must_open(&lib, LIBRARY("modern"));
	expect_failure(&lib, "fail", MSD_CALL_FAILED,
		       "fail: ValueError: it does not work");
	expect_failure(&lib, "fail_silently", MSD_CALL_FAILED,
		       "fail_silently: failed without an error text");
	expect_failure(&lib, "gpu_workspace", MSD_UNSUPPORTED,
		       "gpu_workspace: workspace: device cuda:0: this module was not "
		       "placed there");
	lib_close(&lib);
}

Test(call, missing_function_is_named_in_every_era)
{
	static const char *const paths[] = {LIBRARY("modern"), LIBRARY("021"),
					    LIBRARY("022"), LIBRARY("classic"),
					    LIBRARY("c_target")};
	struct lib lib;

	for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
		lib_must_open(&lib, paths[i]);
		expect_failure(
			&lib, "call_missing", MSD_CALL_FAILED,
			"call_missing: Cannot find function no.such.function in the "
			"imported modules or global registry");
		lib_close(&lib);
	}
}

Test(call, compiled_code_reaches_functions_of_the_runtime)
{
	static const char *const paths[] = {LIBRARY("modern"), LIBRARY("classic")};
	struct msd_any cpu[] = {msd_int(MSD_DEV_CPU), msd_int(0)};
	struct msd_any cuda[] = {msd_int(MSD_DEV_CUDA), msd_int(1)};
	struct msd_any ret;
	struct lib lib;

	for (size_t i = 0; i < 2; i++) {
		lib_must_open(&lib, paths[i]);
		cr_expect_eq(lib_call(&lib, "call_set_device", cpu, 2, &ret), MSD_OK);
		cr_expect_eq(ret.type, MSD_T_NONE);
		cr_expect_eq(lib_call(&lib, "call_set_device", cuda, 2, &ret),
			     MSD_UNSUPPORTED);
		lib_close(&lib);
	}
}

Test(call, parallel_tasks_meet_at_their_barrier)
{
	struct msd_tensor *x = tensor_counting(1000);
	int64_t n = 1024;
	struct msd_tensor *totals =
		msd_tensor_new((struct msd_dtype){MSD_DT_FLOAT, 64, 1}, &n, 1);
	struct msd_any args[] = {msd_of_obj(&x->obj), msd_of_obj(&totals->obj)};
	struct msd_any ret;
	struct lib lib;

	msd_pool_configure(4);
	lib_must_open(&lib, LIBRARY("modern"));
	cr_assert_eq(lib_call(&lib, "par_sum", args, 2, &ret), MSD_OK);
	for (unsigned i = 0; i < msd_pool_size(); i++)
		cr_expect_eq(((double *)totals->dl.data)[i], 499500.0);
	expect_failure(&lib, "par_fail", MSD_CALL_FAILED,
		       "par_fail: RuntimeError: the last task failed");
	lib_close(&lib);
	msd_pool_stop();
	msd_obj_unref(&x->obj);
	msd_obj_unref(&totals->obj);
}

Test(call, classic_arguments_are_converted)
{
	struct msd_tensor *x = tensor_counting(5);
	struct msd_tensor *y = tensor_like(x);
	struct msd_any args[] = {msd_float(2), msd_of_obj(&x->obj), msd_int(3),
				 msd_of_obj(&y->obj)};
	struct msd_any ret;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("classic"));
	cr_assert_eq(lib_call(&lib, "main", args, 4, &ret), MSD_OK, "%s",
		     msd_diag_text(&lib.d));
	for (int i = 0; i < 5; i++)
		cr_expect_eq(((float *)y->dl.data)[i], (float)(2 * i + 3));
	lib_close(&lib);
	msd_obj_unref(&x->obj);
	msd_obj_unref(&y->obj);
}

Test(call, every_value_has_its_classic_code)
{
	struct msd_str *bytes = msd_str_new("\1", 1, MSD_T_BYTES);
	struct msd_str *text = msd_str_new("longer than 7", 13, MSD_T_STR);
	struct msd_tensor *x = tensor_counting(1);
	struct msd_any args[] = {
		msd_int(1),
		msd_bool(true),
		msd_float(1),
		msd_none(),
		{.type = MSD_T_DTYPE, .as.dtype = {MSD_DT_INT, 8, 1}},
		{.type = MSD_T_DEVICE, .as.device = {MSD_DEV_CPU, 0}},
		msd_of_obj(&x->obj),
		{.type = MSD_T_SMALL_STR, .small = 1, .as.bytes = "x"},
		msd_of_obj(&text->obj),
		msd_of_obj(&bytes->obj),
	};
	struct msd_any ret;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("classic"));
	cr_assert_eq(lib_call(&lib, "codes_of", args, 10, &ret), MSD_OK);
	cr_expect_eq(ret.as.i, 0x0024567bbc, "%lx", (long)ret.as.i);
	lib_close(&lib);
	msd_obj_unref(&bytes->obj);
	msd_obj_unref(&text->obj);
	msd_obj_unref(&x->obj);
}

Test(call, more_arguments_than_fit_inline)
{
	struct msd_any args[40];
	struct msd_any ret;
	struct lib lib;

	for (size_t i = 0; i < 40; i++)
		args[i] = msd_int((int64_t)i);
	lib_must_open(&lib, LIBRARY("classic"));
	cr_assert_eq(lib_call(&lib, "codes_of", args, 40, &ret), MSD_OK);
	cr_expect_eq(ret.as.i, 0);
	lib_close(&lib);
}

Test(call, strings_cross_to_021_as_plain_text)
{
	struct msd_str *text = msd_str_new("longer than 7", 13, MSD_T_STR);
	struct msd_any args[] = {msd_of_obj(&text->obj)};
	struct msd_any ret;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("021"));
	cr_assert_eq(lib_call(&lib, "length", args, 1, &ret), MSD_OK);
	cr_expect_eq(ret.as.i, 13);
	args[0] = (struct msd_any){
		.type = MSD_T_SMALL_STR, .small = 3, .as.bytes = "abc"};
	cr_assert_eq(lib_call(&lib, "length", args, 1, &ret), MSD_OK);
	cr_expect_eq(ret.as.i, 3);
	lib_close(&lib);
	msd_obj_unref(&text->obj);
}

static void expect_inverted(const char *path, bool probe)
{
	const struct msd_dtype bool8 = {MSD_DT_BOOL, 8, 1};
	const int64_t n = 3;
	struct msd_tensor *x = msd_tensor_new(bool8, &n, 1);
	struct msd_tensor *y = msd_tensor_new(bool8, &n, 1);
	struct msd_any args[] = {msd_of_obj(&x->obj), msd_of_obj(&y->obj)};
	struct msd_any ret;
	struct lib lib;

	memcpy(x->dl.data, "\1\0\1", 3);
	cr_assert_eq(lib_open(&lib, path, probe), MSD_OK);
	for (int i = 0; i < 2; i++) { /* the second call knows the style */
		cr_assert_eq(lib_call(&lib, "invert", args, 2, &ret), MSD_OK, "%s: %s",
			     path, msd_diag_text(&lib.d));
		cr_expect_eq(memcmp(y->dl.data, "\0\1\0", 3), 0);
		cr_expect(msd_dtype_eq(x->dl.dtype, bool8)); /* as the caller had it */
	}
	lib_close(&lib);
	msd_obj_unref(&x->obj);
	msd_obj_unref(&y->obj);
}

Test(call, bool_is_rewritten_to_the_library_s_style)
{
	expect_inverted(LIBRARY("021"), true);
	expect_inverted(LIBRARY("022"), true);
	expect_inverted(LIBRARY("023"), true);
}

Test(call, unknown_bool_style_is_tried_out)
{
	expect_inverted(LIBRARY("021"), false);
	expect_inverted(LIBRARY("022"), false);
	expect_inverted(LIBRARY("023"), false);
}
