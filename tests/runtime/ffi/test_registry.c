#include <criterion/criterion.h>
#include <string.h>

#include "runtime/packed/global.h"
#include "runtime/value/error.h"
#include "runtime/value/function.h"
#include "runtime/value/registry.h"
#include "tests/runtime/support.h"

static int finished;

static int give_own(void *self, const struct msd_any *args, int32_t n,
		    struct msd_any *ret)
{
	(void)args;
	*ret = msd_int(*(int *)self + n);
	return 0;
}

static void finish(void *self)
{
	(void)self;
	finished++;
}

static struct msd_function *made(int *own)
{
	struct msd_function *fn = msd_function_new(own, give_own, finish);

	cr_assert_not_null(fn);
	return fn;
}

static int64_t call(struct msd_function *fn)
{
	struct msd_any ret = msd_none();

	cr_assert_eq(fn->call(fn, NULL, 0, &ret), 0);
	return ret.as.i;
}

Test(registry, finds_what_was_registered_under_its_name)
{
	int own = 4;
	struct msd_function *fn = made(&own);
	const struct msd_span name = msd_span_of("test.four");

	cr_expect_null(msd_registry_find(name));
	cr_assert_eq(msd_registry_set(name, fn, false), 0);
	msd_obj_unref(&fn->obj);
	struct msd_function *found = msd_registry_find(name);
	cr_assert_not_null(found);
	cr_expect_str_eq(msd_function_name(found), "test.four");
	cr_expect_eq(call(found), 4);
	cr_expect_eq(finished, 0, "the registry holds it");
}

Test(registry, replaces_only_when_it_may)
{
	int one = 1;
	int two = 2;
	struct msd_function *a = made(&one);
	struct msd_function *b = made(&two);
	const struct msd_span name = msd_span_of("test.changing");
	struct msd_diag d = {0};

	cr_assert_eq(msd_registry_set(name, a, false), 0);
	struct msd_function *before = msd_registry_find(name);
	cr_expect_eq(msd_registry_set(name, b, false), -1);
	(void)msd_abi_fetch_error(&d);
	cr_expect_not_null(strstr(msd_diag_text(&d), "already registered"));
	cr_assert_eq(msd_registry_set(name, b, true), 0);
	cr_expect_eq(call(msd_registry_find(name)), 2);
	cr_expect_eq(call(before), 1, "compiled code may have kept it");
	msd_obj_unref(&a->obj);
	msd_obj_unref(&b->obj);
	msd_diag_finish(&d);
}

Test(registry, removes_registered_functions_only)
{
	int own = 0;
	struct msd_function *fn = made(&own);
	const struct msd_span name = msd_span_of("test.gone");
	const struct msd_span builtin = msd_span_of("vm.builtin.copy");

	msd_globals_open();
	cr_assert_eq(msd_registry_set(name, fn, false), 0);
	cr_expect(msd_registry_remove(name));
	cr_expect_null(msd_registry_find(name));
	cr_expect(!msd_registry_remove(name));
	cr_expect(!msd_registry_remove(builtin));
	cr_expect_not_null(msd_registry_find(builtin));
	cr_expect_eq(msd_registry_set(builtin, fn, false), -1);
	msd_abi_clear();
	msd_obj_unref(&fn->obj);
}

Test(registry, lists_its_names)
{
	int own = 0;
	struct msd_function *fn = made(&own);
	struct msd_span text;

	cr_assert_eq(msd_registry_set(msd_span_of("test.listed"), fn, false), 0);
	struct msd_array *names = msd_registry_names();
	cr_assert_eq(names->size, 1);
	cr_assert(msd_any_str(&names->items[0], &text));
	cr_expect(msd_span_is(text, "test.listed"));
	msd_obj_unref(&names->obj);
	msd_obj_unref(&fn->obj);
}

/* Registered by a classic library, called by tvm-ffi's way and by its own. */
Test(registry, is_that_of_classic_libraries_too)
{
	struct msd_any args[] = {
		{.type = MSD_T_RAW_STR, .as.str = "test.classic.add_step"}, msd_int(5)};
	struct msd_any ret = msd_none();
	struct msd_span text;
	struct lib lib;

	lib_must_open(&lib, FIXTURE_DIR "/ffi/fixture_register.so");
	struct msd_function *fn =
		msd_registry_find(msd_span_of("test.classic.add_step"));
	cr_assert_not_null(fn);
	cr_assert_eq(fn->call(fn, &args[1], 1, &ret), 0);
	cr_expect_eq(ret.as.i, 105);
	cr_assert_eq(lib_call(&lib, "call_global", args, 2, &ret), MSD_OK);
	cr_expect_eq(ret.as.i, 105);
	cr_expect_eq(lib_call(&lib, "call_global", args, 1, &ret), MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "add_step takes an int"));
	args[0].as.str = "test.classic.name";
	cr_assert_eq(lib_call(&lib, "call_global", args, 1, &ret), MSD_OK);
	cr_assert(msd_any_str(&ret, &text));
	cr_expect(msd_span_is(text, "a name that ends with the call"));
	msd_any_drop(&ret);
	lib_close(&lib);
}

Test(registry, is_bounded)
{
	int own = 0;
	struct msd_function *fn = made(&own);
	const struct msd_span name = msd_span_of("test.often");
	struct msd_diag d = {0};
	uint32_t n = 0;

	while (msd_registry_set(name, fn, true) == 0)
		n++;
	cr_expect_eq(n, MSD_MAX_REGISTERED);
	(void)msd_abi_fetch_error(&d);
	cr_expect_not_null(strstr(msd_diag_text(&d), "more than 65536 functions"));
	cr_expect_not_null(msd_registry_find(name));
	msd_obj_unref(&fn->obj);
	msd_diag_finish(&d);
}

Test(error, a_backtrace_is_bounded)
{
	static char text[100000];
	struct msd_error *e =
		msd_error_new(msd_span_of("ValueError"), msd_span_of("long"));

	memset(text, 'x', sizeof(text));
	for (int i = 0; i < 5; i++)
		e->update_backtrace(e, &(struct msd_bytes){text, sizeof(text)}, 1);
	cr_expect_eq(e->backtrace.size, 256 * 1024);
	e->update_backtrace(e, &(struct msd_bytes){"new", 3}, 0);
	cr_expect_str_eq(e->backtrace.data, "new");
	msd_obj_unref(&e->obj);
}

Test(registry, a_made_function_ends_once)
{
	int own = 9;
	struct msd_function *fn = made(&own);

	msd_obj_ref(&fn->obj);
	cr_expect_eq(call(fn), 9);
	msd_obj_unref(&fn->obj);
	cr_expect_eq(finished, 0);
	msd_obj_unref(&fn->obj);
	cr_expect_eq(finished, 1);
}
