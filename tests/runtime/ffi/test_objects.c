/* Objects between the runtime and a library that needs libtvm_ffi.so
 * (tests/modules/objects.c). */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/support.h"

#define OBJECTS ZOO_DIR "/objects.so"
#define ORPHAN ZOO_DIR "/objects_orphan.so"

static struct lib lib;

static struct msd_any str(const char *text)
{
	struct msd_any v;

	cr_assert(msd_any_text(msd_span_of(text), true, &v));
	return v;
}

/* Call with arguments that are dropped; the caller owns the result. */
static struct msd_any must_call(const char *name, size_t n, const struct msd_any *args)
{
	struct msd_any copy[8];
	struct msd_any ret;

	for (size_t i = 0; i < n; i++)
		copy[i] = args[i];
	cr_assert_eq(lib_call(&lib, name, copy, n, &ret), MSD_OK, "%s: %s", name,
		     msd_diag_text(&lib.d));
	for (size_t i = 0; i < n; i++)
		msd_any_drop(&copy[i]);
	return ret;
}

#define CALL(name, ...)                                                                \
	must_call(name,                                                                \
		  sizeof((struct msd_any[]){__VA_ARGS__}) / sizeof(struct msd_any),    \
		  (struct msd_any[]){__VA_ARGS__})

static void expect_text(struct msd_any v, const char *text)
{
	struct msd_span s;

	cr_assert(msd_any_str(&v, &s), "type %d", v.type);
	cr_expect(msd_span_is(s, text), "%.*s", (int)s.n, s.p);
	msd_any_drop(&v);
}

static void open_objects(void)
{
	lib_must_open(&lib, OBJECTS);
}

static void close_objects(void)
{
	lib_close(&lib);
}

TestSuite(objects, .init = open_objects, .fini = close_objects);

Test(objects, types_have_names_for_libraries)
{
	expect_text(CALL("type_of", str("a")), "ffi.SmallStr");
	expect_text(CALL("type_of", str("longer than seven")), "ffi.String");
	expect_text(CALL("type_of", msd_float(1)), "float");
	expect_text(CALL("type_of", CALL("count", msd_int(2))), "ffi.Tensor");
	expect_text(CALL("type_of", CALL("circle", msd_none())), "ffi.List");
}

Test(objects, an_error_is_told_by_kind_and_message)
{
	struct msd_any args[] = {str("KeyError"), str("no such key here")};
	struct msd_any ret;

	cr_assert_eq(lib_call(&lib, "raise", args, 2, &ret), MSD_CALL_FAILED);
	cr_expect_str_eq(msd_diag_text(&lib.d), "raise: KeyError: no such key here");
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
}

Test(objects, an_error_survives_crossings_whole)
{
	const struct msd_func_info *info;
	struct msd_function *raise;
	struct msd_function *again;

	cr_assert_eq(msd_loaded_find(lib.loaded, "raise", &info, &raise, &lib.d),
		     MSD_OK);
	cr_assert_eq(msd_loaded_find(lib.loaded, "again", &info, &again, &lib.d),
		     MSD_OK);
	for (int i = 0; i < 2; i++) {
		msd_obj_ref(&raise->obj);
		msd_obj_ref(&again->obj);
	}
	expect_text(CALL("caught", msd_of_obj(&again->obj), msd_of_obj(&again->obj),
			 msd_of_obj(&raise->obj), str("KeyError"), str("deep")),
		    "KeyError|deep|deep|at line 1\ncaught\n");
}

Test(objects, functions_are_made_kept_and_called)
{
	struct msd_any adder = CALL("adder", msd_int(40));
	struct msd_any ret = msd_none();
	struct msd_any two = msd_int(2);

	cr_assert_eq(adder.type, MSD_T_FUNCTION);
	struct msd_function *f = adder.as.p;
	cr_assert_eq(f->call(f, &two, 1, &ret), 0);
	cr_expect_eq(ret.as.i, 42);
	cr_expect_eq(CALL("adders", msd_none()).as.i, 1);
	expect_text(CALL("caught", adder, msd_none()),
		    "TypeError|an adder takes an int||caught\n");
	cr_expect_eq(CALL("adders", msd_none()).as.i, 0, "it ended with its owner");
}

Test(objects, one_registry_serves_library_and_runtime)
{
	struct msd_any ret;

	(void)CALL("put", str("test.add"), CALL("adder", msd_int(1)));
	cr_expect_eq(CALL("call", str("test.add"), msd_int(4)).as.i, 5);
	ret = CALL("call", str("ffi.Shape"), msd_int(3), msd_int(4));
	cr_assert_eq(ret.type, MSD_T_SHAPE);
	msd_any_drop(&ret);
	cr_expect_eq(CALL("call", str("test.none")).type, MSD_T_NONE);
	cr_expect(CALL("call", str("ffi.FunctionRemoveGlobal"), str("test.add")).as.i);
	cr_expect_eq(CALL("call", str("test.add"), msd_int(4)).type, MSD_T_NONE);
}

Test(objects, tensors_come_from_the_environment_and_go_through_dlpack)
{
	struct msd_any t = CALL("through", CALL("count", msd_int(1000)));
	const struct msd_dltensor *dl = msd_any_dltensor(&t);

	cr_assert_not_null(dl);
	cr_expect_eq((uintptr_t)dl->data % 64, 0);
	cr_expect_eq(dl->strides[0], 1);
	cr_expect_float_eq(((const float *)dl->data)[999], 999, 0);
	msd_any_drop(&t);
}

Test(objects, impossible_tensors_are_errors)
{
	struct msd_any ret;

	cr_assert_eq(lib_call(&lib, "count", (struct msd_any[]){msd_int(-3)}, 1, &ret),
		     MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "the extent -3"));
	cr_assert_eq(lib_call(&lib, "count", (struct msd_any[]){msd_int(INT64_MAX)}, 1,
			      &ret),
		     MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "more bytes than"));
}

Test(objects, a_lent_tensor_that_is_kept_gets_memory_of_its_own)
{
	static float data[32] __attribute__((aligned(128))) = {1, 2, 3};
	const int64_t shape[] = {3};
	const struct msd_dltensor lent = {.data = data,
					  .device = {MSD_DEV_CPU, 0},
					  .ndim = 1,
					  .dtype = {MSD_DT_FLOAT, 32, 1},
					  .shape = (int64_t *)(uintptr_t)shape};
	struct msd_tensor *t = msd_tensor_strided(&lent, NULL, NULL, NULL);

	t->lent = MSD_LENT_IN;
	msd_obj_ref(&t->obj);
	(void)CALL("keep", msd_of_obj(&t->obj));
	cr_assert(msd_obj_is_shared(&t->obj));
	cr_assert(msd_tensor_keep(&t->obj, false));
	msd_obj_unref(&t->obj);
	data[1] = 99;
	struct msd_any kept = CALL("kept", msd_none());
	cr_expect_float_eq(((float *)msd_any_dltensor(&kept)->data)[1], 2, 0);
	msd_any_drop(&kept);
	(void)CALL("forget", msd_none());
}

Test(objects, names_with_an_underscore_are_listed)
{
	cr_expect_eq(CALL("_underscored", msd_none()).as.i, 5);
	cr_expect_str_eq(lib_signature(&lib, "_underscored"), "");
}

Test(orphan, a_type_with_an_unknown_parent_refuses_its_library)
{
	struct lib orphan;

	cr_assert_eq(lib_open(&orphan, ORPHAN, false), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&orphan.d),
				  "type test.Orphan: its parent is unknown"),
			   "%s", msd_diag_text(&orphan.d));
	lib_close(&orphan);
}
