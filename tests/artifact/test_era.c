#include <criterion/criterion.h>
#include <elf.h>
#include <string.h>

#include "artifact/elf/era.h"
#include "tests/artifact/elf_writer.h"

/* The era of a library with these one or two symbols. */
static enum msd_era era_with(struct ew_sym first, struct ew_sym second)
{
	struct ew_lib lib = {.machine = EM_X86_64, .syms = {first, second}};
	struct msd_elf elf = {0};
	struct bw image = {0};

	ew_write(&image, &lib);
	cr_assert_eq(msd_elf_read(bw_span(&image), &elf, NULL), MSD_OK);
	enum msd_era era = msd_era_of(&elf);
	msd_elf_finish(&elf);
	bw_free(&image);
	return era;
}

static const struct ew_sym none = {NULL, 'F'};

Test(era, is_decided_by_symbols)
{
	static const struct {
		struct ew_sym sym;
		enum msd_era era;
	} rows[] = {
		{{"__tvm_ffi_add", 'F'}, MSD_ERA_FFI},
		{{"__tvm_ffi__library_bin", 'O'}, MSD_ERA_FFI},
		{{"__tvm_ffi__library_ctx", 'O'}, MSD_ERA_FFI},
		{{"__tvm_ffi_library_bin", 'O'}, MSD_ERA_FFI_021},
		{{"__tvm_ffi_library_ctx", 'O'}, MSD_ERA_FFI_021},
		{{"__TVMFFIFunctionCall", 'O'}, MSD_ERA_FFI_021},
		{{"TVMFFIFunctionCall", 'U'}, MSD_ERA_FFI_021},
		{{"__tvm_dev_mblob", 'O'}, MSD_ERA_CLASSIC},
		{{"__tvm_module_ctx", 'O'}, MSD_ERA_CLASSIC},
		{{"__tvm_main__", 'F'}, MSD_ERA_CLASSIC},
		{{"__TVMBackendAllocWorkspace", 'O'}, MSD_ERA_CLASSIC},
		{{"TVMAPISetLastError", 'U'}, MSD_ERA_CLASSIC},
		{{"add", 'F'}, MSD_ERA_NONE},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		cr_expect_eq(era_with(rows[i].sym, none), rows[i].era, "%s",
			     rows[i].sym.name);
	}
}

Test(era, the_latest_symbol_decides)
{
	struct ew_sym workspace = {"__TVMBackendAllocWorkspace", 'O'};

	cr_expect_eq(era_with(workspace, (struct ew_sym){"__tvm_ffi_add", 'F'}),
		     MSD_ERA_FFI);
	cr_expect_eq(era_with(workspace, (struct ew_sym){"__TVMFFIFunctionCall", 'O'}),
		     MSD_ERA_FFI_021);
}

static const char *function_name(enum msd_era era, const char *symbol,
				 enum msd_sym_type type)
{
	struct msd_elf_sym sym = {.name = symbol, .type = type, .defined = true};

	return msd_era_function_name(era, &sym);
}

Test(era, functions_have_the_names_of_their_callers)
{
	cr_expect_str_eq(function_name(MSD_ERA_FFI, "__tvm_ffi_add", MSD_SYM_FUNC),
			 "add");
	cr_expect_str_eq(function_name(MSD_ERA_FFI, "__tvm_ffi_main", MSD_SYM_FUNC),
			 "main");
	cr_expect_str_eq(
		function_name(MSD_ERA_FFI, "__tvm_ffi__gather_hidden", MSD_SYM_FUNC),
		"_gather_hidden");
	cr_expect_str_eq(function_name(MSD_ERA_CLASSIC, "add", MSD_SYM_FUNC), "add");
	cr_expect_str_eq(function_name(MSD_ERA_FFI_021, "add", MSD_SYM_FUNC), "add");
}

Test(era, helpers_and_specials_are_no_functions)
{
	static const char *const classic[] = {
		"_init",          "_fini",
		"__truncsfhf2",   "__tvm_main__",
		"_ZN3tvm4nodeE",  "_lookup_linked_param",
		"get_c_metadata", "TVMSystemLibEntryPoint"};
	static const char *const ffi[] = {"add", "__tvm_ffi_", "__tvm_ffi__doc_add",
					  "__tvm_ffi___vmtir__main"};

	for (size_t i = 0; i < sizeof(classic) / sizeof(*classic); i++) {
		cr_expect_null(function_name(MSD_ERA_CLASSIC, classic[i], MSD_SYM_FUNC),
			       "%s", classic[i]);
	}
	for (size_t i = 0; i < sizeof(ffi) / sizeof(*ffi); i++) {
		cr_expect_null(function_name(MSD_ERA_FFI, ffi[i], MSD_SYM_FUNC), "%s",
			       ffi[i]);
	}
	cr_expect_null(function_name(MSD_ERA_CLASSIC, "data", MSD_SYM_OBJECT));
}
