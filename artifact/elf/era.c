#include "artifact/elf/era.h"

#include <string.h>

static const struct msd_era_names names_of[] = {
	[MSD_ERA_NONE] = {"", "", ""},
	[MSD_ERA_CLASSIC] = {"__tvm_dev_mblob", "__tvm_module_ctx", ""},
	[MSD_ERA_FFI_021] = {"__tvm_ffi_library_bin", "__tvm_ffi_library_ctx", ""},
	[MSD_ERA_FFI] = {"__tvm_ffi__library_bin", "__tvm_ffi__library_ctx",
			 "__tvm_ffi_"},
};

static bool has_prefix(const char *name, const char *prefix)
{
	return strncmp(name, prefix, strlen(prefix)) == 0;
}

/* The era that one symbol indicates. */
static enum msd_era era_of_symbol(const struct msd_elf_sym *sym)
{
	const struct msd_era_names *ffi_021 = &names_of[MSD_ERA_FFI_021];
	const char *name = sym->name;

	if (sym->defined &&
	    (strcmp(name, ffi_021->blob) == 0 || strcmp(name, ffi_021->ctx) == 0)) {
		/* 0.22 would spell a function "library_bin" the same way. */
		return sym->type == MSD_SYM_FUNC ? MSD_ERA_FFI : MSD_ERA_FFI_021;
	}
	if (sym->defined && has_prefix(name, "__tvm_ffi_"))
		return MSD_ERA_FFI;
	if (has_prefix(name, "__TVMFFI") || has_prefix(name, "TVMFFI"))
		return MSD_ERA_FFI_021;
	if (has_prefix(name, "__TVM") || has_prefix(name, "TVM") ||
	    has_prefix(name, "__tvm_") || strcmp(name, "_lookup_linked_param") == 0)
		return MSD_ERA_CLASSIC;
	return MSD_ERA_NONE;
}

enum msd_era msd_era_of(const struct msd_elf *elf)
{
	enum msd_era era = MSD_ERA_NONE;

	/* Later eras keep symbols of earlier ones (__TVMBackendAllocWorkspace). */
	for (size_t i = 0; i < elf->n_syms && era != MSD_ERA_FFI; i++) {
		enum msd_era one = era_of_symbol(&elf->syms[i]);

		if (one > era)
			era = one;
	}
	return era;
}

msd_err msd_era_choose(const struct msd_elf *elf, enum msd_abi_word said,
		       enum msd_era *ret, struct msd_diag *d)
{
	const enum msd_era era = msd_era_of(elf);
	const bool is_classic = said == MSD_ERA_SAID_CLASSIC;

	if (said == MSD_ERA_UNSAID ||
	    (era != MSD_ERA_NONE && (era == MSD_ERA_CLASSIC) == is_classic)) {
		*ret = era;
	} else if (era == MSD_ERA_NONE) {
		/* 0.22 and later always mark their functions. */
		*ret = is_classic ? MSD_ERA_CLASSIC : MSD_ERA_FFI_021;
	} else {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"the option abi is %s, but the symbols are those of %s",
			msd_abi_word_name(said), msd_era_title(era));
	}
	return MSD_OK;
}

const struct msd_era_names *msd_era_names(enum msd_era era)
{
	return &names_of[era];
}

const char *msd_era_title(enum msd_era era)
{
	switch (era) {
	case MSD_ERA_CLASSIC:
		return "TVM 0.6-0.20 (classic)";
	case MSD_ERA_FFI_021:
		return "TVM 0.21 (first tvm-ffi)";
	case MSD_ERA_FFI:
		return "TVM 0.22-0.27 (tvm-ffi)";
	case MSD_ERA_NONE:
		break;
	}
	return "no TVM library";
}

/* Symbols that the tool chain and TVM add to packed functions, in unprefixed eras. */
static bool is_helper(const char *name)
{
	return name[0] == '_' || strcmp(name, "TVMSystemLibEntryPoint") == 0 ||
	       strcmp(name, "get_c_metadata") == 0;
}

bool msd_era_is_getter(const char *name)
{
	return has_prefix(name, "_metadata_") || has_prefix(name, "_doc_");
}

const char *msd_era_function_name(enum msd_era era, const struct msd_elf_sym *sym)
{
	const char *prefix = names_of[era].func_prefix;
	const char *name = sym->name;

	if (!sym->defined || sym->type != MSD_SYM_FUNC || era == MSD_ERA_NONE)
		return NULL;
	if (era != MSD_ERA_FFI)
		return is_helper(name) ? NULL : name;
	if (!has_prefix(name, prefix))
		return NULL;
	name += strlen(prefix);
	/* Functions with two underscores are TVM's own (__vmtir__main). */
	return has_prefix(name, "__") || msd_era_is_getter(name) || name[0] == '\0'
		       ? NULL
		       : name;
}
