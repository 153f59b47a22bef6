#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/support.h"

#define LIBRARY(name) FIXTURE_DIR "/fixture_" name ".so"

Test(exports, every_listed_symbol_is_there_for_libraries)
{
	FILE *f = fopen(MSD_SOURCE_DIR "/runtime/abi/exports.list", "r");
	char name[128];
	size_t n = 0;

	cr_assert_not_null(f);
	while (fscanf(f, " %127[{};]", name) == 1 ||
	       fscanf(f, " %127[^;{}\n]", name) == 1) {
		if (name[0] == '{' || name[0] == '}' || name[0] == ';')
			continue;
		cr_expect_not_null(dlsym(RTLD_DEFAULT, name), "%s", name);
		n++;
	}
	(void)fclose(f);
	cr_expect_gt(n, 15);
}

#if defined(__x86_64__)
Test(exports, half_of_a_double_comes_in_both_registers)
{
	void *symbol = dlsym(RTLD_DEFAULT, "__truncdfhf2");
	uint16_t (*in_eax)(double);
	double (*in_xmm0)(double);
	double bits;
	uint16_t half;

	memcpy(&in_eax, &symbol, sizeof(symbol));
	memcpy(&in_xmm0, &symbol, sizeof(symbol));
	cr_expect_eq(in_eax(1.5), 0x3e00);
	bits = in_xmm0(-2.0);
	memcpy(&half, &bits, sizeof(half));
	cr_expect_eq(half, 0xc000);
}
#endif

static void expect_refusal(const char *path, const char *part)
{
	struct lib lib;

	cr_expect_eq(lib_open(&lib, path, true), MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), part), "%s",
			   msd_diag_text(&lib.d));
	cr_expect_null(lib.loaded);
	lib_close(&lib);
}

Test(library, all_missing_symbols_are_named_before_it_runs)
{
	expect_refusal(LIBRARY("missing"), "modserd_test_missing_one");
	expect_refusal(LIBRARY("missing"), "modserd_test_missing_two");
}

Test(library, missing_cpp_symbols_are_explained)
{
	expect_refusal(LIBRARY("cpp"), "TVM's C++ runtime");
}

Test(library, unknown_pointer_global_is_named)
{
	expect_refusal(LIBRARY("unknown_slot"), "__TVMBackendFutureThing");
}

Test(library, lists_functions_and_hides_internals)
{
	const struct msd_func_info *const *infos;
	struct lib lib;
	size_t n;

	lib_must_open(&lib, LIBRARY("modern"));
	infos = msd_loaded_functions(lib.loaded, &n);
	cr_assert_gt(n, 5);
	cr_expect_str_eq(infos[0]->name, "addone");
	for (size_t i = 0; i < n; i++) {
		cr_expect_neq(infos[i]->name[0], '_', "%s", infos[i]->name);
		if (i > 0)
			cr_expect_lt(strcmp(infos[i - 1]->name, infos[i]->name), 0);
	}
	lib_close(&lib);
}

Test(library, printed_signature_is_learned)
{
	struct lib lib;

	lib_must_open(&lib, LIBRARY("modern"));
	cr_expect_str_eq(lib_signature(&lib, "addone"),
			 "addone(A: Tensor([n], float32), B: Tensor([n], float32))");
	cr_expect_str_eq(lib_signature(&lib, "main"), lib_signature(&lib, "addone"));
	cr_expect_str_eq(lib_signature(&lib, "ret_int"), "");
	lib_close(&lib);
}

Test(library, without_probing_signatures_are_unknown)
{
	struct lib lib;

	cr_assert_eq(lib_open(&lib, LIBRARY("modern"), false), MSD_OK);
	cr_expect_str_eq(lib_signature(&lib, "addone"), "");
	lib_close(&lib);
}

Test(library, asserted_signatures_are_learned)
{
	static const char *const paths[] = {LIBRARY("021"), LIBRARY("022"),
					    LIBRARY("023")};
	struct lib lib;

	for (size_t i = 0; i < 3; i++) {
		lib_must_open(&lib, paths[i]);
		cr_expect_str_eq(lib_signature(&lib, "scale"),
				 "scale(A: Tensor([4, 8], float32), float, "
				 "B: Tensor([?, ?], float32))");
		cr_expect_str_eq(lib_signature(&lib, "invert"),
				 "invert(A: Tensor([?], bool), B: Tensor([?], bool))");
		cr_expect_str_eq(lib_signature(&lib, "length"), "");
		lib_close(&lib);
	}
}

Test(library, classic_signatures_are_learned)
{
	struct lib lib;

	lib_must_open(&lib, LIBRARY("classic"));
	cr_expect_str_eq(
		lib_signature(&lib, "axpb"),
		"axpb(float, Tensor([?], float32), int, Tensor([?], float32))");
	cr_expect_str_eq(lib_signature(&lib, "add_ints"), "add_ints(int, int)");
	lib_close(&lib);
}

Test(library, entry_has_its_names_in_every_era)
{
	static const char *const paths[] = {LIBRARY("modern"), LIBRARY("021"),
					    LIBRARY("classic"), LIBRARY("c_target")};
	static const char *const names[] = {"main", "scale", "axpb", "__tvm_main__"};
	const struct msd_func_info *info;
	struct msd_function *fn;
	struct lib lib;

	for (size_t i = 0; i < 4; i++) {
		lib_must_open(&lib, paths[i]);
		cr_assert_eq(msd_loaded_find(lib.loaded, "main", &info, &fn, &lib.d),
			     MSD_OK);
		cr_expect_str_eq(info->name, names[i]);
		cr_assert_eq(
			msd_loaded_find(lib.loaded, "__tvm_main__", &info, &fn, &lib.d),
			MSD_OK);
		cr_expect_str_eq(info->name, names[i]);
		lib_close(&lib);
	}
}

Test(library, unknown_name_is_told_the_nearest)
{
	const struct msd_func_info *info;
	struct msd_function *fn;
	struct lib lib;

	lib_must_open(&lib, LIBRARY("modern"));
	cr_expect_eq(msd_loaded_find(lib.loaded, "adone", &info, &fn, &lib.d),
		     MSD_NOT_FOUND);
	cr_expect_not_null(strstr(msd_diag_text(&lib.d), "near it: addone"), "%s",
			   msd_diag_text(&lib.d));
	/* Symbols of what the library needs are not its functions. */
	cr_expect_eq(msd_loaded_find(lib.loaded, "malloc", &info, &fn, &lib.d),
		     MSD_NOT_FOUND);
	cr_expect_eq(
		msd_loaded_find(lib.loaded, "_metadata_addone", &info, &fn, &lib.d),
		MSD_NOT_FOUND);
	lib_close(&lib);
}

Test(library, loaded_twice_has_two_of_everything)
{
	struct msd_any ret;
	struct lib one;
	struct lib two;

	lib_must_open(&one, LIBRARY("modern"));
	lib_must_open(&two, LIBRARY("modern"));
	cr_assert_eq(lib_call(&one, "call_missing", NULL, 0, &ret), MSD_CALL_FAILED);
	lib_close(&one);
	/* Still mapped, with its own context. */
	cr_assert_eq(lib_call(&two, "call_missing", NULL, 0, &ret), MSD_CALL_FAILED);
	lib_close(&two);
}

Test(library, system_libraries_register_their_functions)
{
	static const char *const paths[] = {LIBRARY("syslib_classic"),
					    LIBRARY("syslib_ffi")};
	struct msd_any ret;
	struct lib lib;

	for (size_t i = 0; i < 2; i++) {
		lib_must_open(&lib, paths[i]);
		cr_assert_eq(lib_call(&lib, "answer", NULL, 0, &ret), MSD_OK, "%s",
			     msd_diag_text(&lib.d));
		cr_expect_eq(ret.as.i, 42);
		lib_close(&lib);
	}
}

Test(library, not_a_tvm_library_is_refused)
{
	struct lib lib;

	cr_expect_eq(lib_open(&lib, "/proc/self/exe", true), MSD_UNSUPPORTED);
	lib_close(&lib);
}
