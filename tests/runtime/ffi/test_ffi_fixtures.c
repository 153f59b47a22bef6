/* Functions and maps between the runtime and libraries that are built with the headers
 * of tvm-ffi. A client cannot send these values. */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "runtime/value/map.h"
#include "tests/runtime/support.h"

static struct msd_any str(const char *text)
{
	struct msd_any v;

	cr_assert(msd_any_text(msd_span_of(text), true, &v));
	return v;
}

static bool open_fixture(struct lib *lib, const char *name)
{
	const char *path = fixture_path(name);

	if (path != NULL)
		lib_must_open(lib, path);
	return path != NULL;
}

/* Arguments are dropped; the caller owns the result. */
static struct msd_any call(struct lib *lib, const char *name, struct msd_any a,
			   struct msd_any b)
{
	struct msd_any args[] = {a, b};
	const size_t n = a.type == MSD_T_NONE ? 0 : b.type == MSD_T_NONE ? 1 : 2;
	struct msd_any ret;

	cr_assert_eq(lib_call(lib, name, args, n, &ret), MSD_OK, "%s: %s", name,
		     msd_diag_text(&lib->d));
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
	return ret;
}

/* {"k0": "v0", ...} with texts of both forms */
static struct msd_any texts(size_t n)
{
	struct msd_pair pairs[64];
	char text[64];
	size_t repeated;

	for (size_t i = 0; i < n; i++) {
		(void)snprintf(text, sizeof(text),
			       i % 2 == 0 ? "k%zu" : "a longer key %zu", i);
		pairs[i].key = str(text);
		(void)snprintf(text, sizeof(text), "v%zu", i);
		pairs[i].value = str(text);
	}
	struct msd_map *m = msd_map_new(MSD_T_MAP, pairs, n, &repeated);
	cr_assert_not_null(m);
	for (size_t i = 0; i < n; i++) {
		msd_any_drop(&pairs[i].key);
		msd_any_drop(&pairs[i].value);
	}
	return msd_of_obj(&m->obj);
}

static void expect_keys(const char *file)
{
	struct lib lib;

	if (!open_fixture(&lib, file))
		return;
	for (size_t n = 1; n < 60; n += n < 6 ? 1 : 9) {
		struct msd_any v = call(&lib, "find", texts(n),
					str(n % 2 == 1 ? "k0" : "a longer key 1"));
		struct msd_span s;
		cr_assert(msd_any_str(&v, &s), "%zu", n);
		cr_expect(msd_span_is(s, n % 2 == 1 ? "v0" : "v1"));
		msd_any_drop(&v);
		v = call(&lib, "find", texts(n), str("no such key"));
		cr_expect_eq(v.type, MSD_T_NONE);
	}
	lib_close(&lib);
}

Test(ffi_fixtures, a_library_finds_keys_in_our_maps)
{
	expect_keys("llm/fixtures/ffi/arrays.so");
}

Test(ffi_fixtures, a_library_of_0_1_0_finds_keys_in_our_maps)
{
	expect_keys("llm/fixtures/ffi/arrays-0.1.0.so");
}

static void expect_maps(const char *file)
{
	struct lib lib;

	if (!open_fixture(&lib, file))
		return;
	for (size_t n = 0; n < 40; n += 3) {
		struct msd_array *a = msd_array_new(n);
		char text[64];
		for (size_t i = 0; i < n; i++) {
			(void)snprintf(text, sizeof(text), "%*zu", (int)i + 2, i);
			a->items[i] = str(text);
		}
		struct msd_any v =
			call(&lib, "lengths", msd_of_obj(&a->obj), msd_none());
		cr_assert_eq(v.type, MSD_T_MAP);
		struct msd_map_walk w = msd_map_begin(v.as.p);
		for (size_t i = 0; i < n; i++) {
			const struct msd_pair *p = msd_map_next(&w);
			cr_assert_not_null(p);
			cr_expect_eq(p->value.as.i, (int64_t)i + 2);
		}
		cr_expect_null(msd_map_next(&w));
		struct msd_any total = call(&lib, "total", v, msd_none());
		cr_expect_eq(total.as.i, (int64_t)(n * (n + 3) / 2));
	}
	lib_close(&lib);
}

Test(ffi_fixtures, we_read_the_maps_of_a_library)
{
	expect_maps("llm/fixtures/ffi/arrays.so");
	expect_maps("llm/fixtures/ffi/arrays-0.1.0.so");
}

static void expect_functions(const char *file)
{
	struct lib lib;
	struct msd_any ret;

	if (!open_fixture(&lib, file))
		return;
	struct msd_any ten = call(&lib, "adder", msd_int(10), msd_none());
	cr_assert_eq(ten.type, MSD_T_FUNCTION);
	for (int i = 0; i < 3; i++)
		msd_obj_ref(ten.as.obj);
	cr_expect_eq(call(&lib, "apply", ten, msd_int(5)).as.i, 15);
	struct msd_any twenty = call(&lib, "compose", ten, ten);
	msd_obj_ref(twenty.as.obj);
	cr_expect_eq(call(&lib, "apply", twenty, msd_int(1)).as.i, 21);
	msd_any_drop(&twenty);
	msd_any_drop(&ten);
	struct msd_any picky = call(&lib, "picky_function", msd_none(), msd_none());
	struct msd_any args[] = {picky, msd_int(-4)};
	cr_assert_eq(lib_call(&lib, "guard", args, 2, &ret), MSD_OK);
	struct msd_span s;
	cr_assert(msd_any_str(&ret, &s));
	cr_expect(msd_span_is(s, "ValueError: negative: -4"));
	msd_any_drop(&ret);
	cr_expect_eq(lib_call(&lib, "apply", args, 2, &ret), MSD_CALL_FAILED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "ValueError: negative: -4"));
	msd_any_drop(&picky);
	lib_close(&lib);
}

Test(ffi_fixtures, functions_are_made_passed_and_called_back)
{
	expect_functions("llm/fixtures/ffi/functions.so");
	expect_functions("llm/fixtures/ffi/functions-0.1.0.so");
}
