#ifndef MSD_ARTIFACT_ELF_ERA_H
#define MSD_ARTIFACT_ELF_ERA_H
/*
 * Which TVM made a library: decided by its symbols. Only of a library without any, as
 * the C target leaves them, somebody has to say it.
 */
#include "artifact/elf/elf.h"
#include "proto/era_word.h"

enum msd_era {
	MSD_ERA_NONE,    /* no TVM symbols at all: not a TVM library */
	MSD_ERA_CLASSIC, /* 0.6 .. 0.20: TVMValue + type codes */
	MSD_ERA_FFI_021, /* 0.21: TVMFFIAny, unprefixed names, old object header */
	MSD_ERA_FFI,     /* 0.22 .. 0.27: TVMFFIAny, __tvm_ffi_ prefix */
};

struct msd_era_names {
	const char *blob;        /* data symbol of the serialized import tree */
	const char *ctx;         /* pointer global of the library context */
	const char *func_prefix; /* in front of every function's symbol */
};

/** The newest era of which @elf has a symbol: later ones keep some of earlier ones. */
enum msd_era msd_era_of(const struct msd_elf *elf);
/**
 * The same with what somebody said of the library: MSD_ERA_NONE only where nobody said
 * anything. Errors: MSD_UNSUPPORTED, its symbols tell another era.
 */
MSD_MUST_CHECK msd_err msd_era_choose(const struct msd_elf *elf, enum msd_era_word said,
				      enum msd_era *ret, struct msd_diag *d);
/** Names of an era's special symbols; for MSD_ERA_NONE all empty. Static. */
const struct msd_era_names *msd_era_names(enum msd_era era);
const char *msd_era_title(enum msd_era era); /* "TVM 0.22-0.27 (tvm-ffi)" */
/**
 * The name by which callers know the packed function that @sym defines; NULL when @sym
 * is no packed function (data, compiler helpers, TVM's own specials). Borrowed from
 * @sym.
 */
const char *msd_era_function_name(enum msd_era era, const struct msd_elf_sym *sym);

#endif
