#ifndef MSD_ARTIFACT_ELF_ERA_H
#define MSD_ARTIFACT_ELF_ERA_H
/* Detect the TVM version (era) of a library from its symbols. Libraries of the C
 * target have none, so the user must name the era. */
#include "artifact/elf/elf.h"
#include "proto/words/abi_word.h"

enum msd_era {
	MSD_ERA_NONE,    /* no TVM symbols at all: not a TVM library */
	MSD_ERA_CLASSIC, /* 0.6 .. 0.20: TVMValue + type codes */
	MSD_ERA_FFI_021, /* 0.21: TVMFFIAny, unprefixed names, old object header */
	MSD_ERA_FFI,     /* 0.22 .. 0.27: TVMFFIAny, __tvm_ffi_ prefix */
};

struct msd_era_names {
	const char *blob;        /* data symbol of the serialized import tree */
	const char *ctx;         /* pointer global of the library context */
	const char *func_prefix; /* prefix of every function's symbol */
};

/**
 * The newest era with a symbol in @elf: later eras keep some symbols of earlier ones.
 */
enum msd_era msd_era_of(const struct msd_elf *elf);
/**
 * The same, with the era named by the user: MSD_ERA_NONE only if the user names none.
 * Errors: MSD_UNSUPPORTED, the symbols indicate another era.
 */
MSD_MUST_CHECK msd_err msd_era_choose(const struct msd_elf *elf, enum msd_abi_word said,
				      enum msd_era *ret, struct msd_diag *d);
/** Names of an era's special symbols; for MSD_ERA_NONE all empty. Static. */
const struct msd_era_names *msd_era_names(enum msd_era era);
const char *msd_era_title(enum msd_era era); /* "TVM 0.22-0.27 (tvm-ffi)" */
/**
 * The name that callers use for the packed function that @sym defines; NULL if @sym
 * is not a packed function (data, compiler helpers, TVM's own specials). Borrowed
 * from @sym.
 */
const char *msd_era_function_name(enum msd_era era, const struct msd_elf_sym *sym);
/** True for the name of a function that gives another function's types or text. */
bool msd_era_is_getter(const char *name);

#endif
