#ifndef MSD_ARTIFACT_ELF_ELF_H
#define MSD_ARTIFACT_ELF_ELF_H
/* A shared library as bytes: its dynamic symbols, needed libraries and data, read
 * with bounds checks and without executing anything. ELF64, little-endian. */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

#define MSD_MACHINE_NAME_MAX 32 /* bytes incl. NUL for msd_elf_machine_format() */
#define MSD_MAX_SYMBOL_BYTES (16u << 10) /* maximum of one symbol name */

enum msd_sym_type { MSD_SYM_FUNC, MSD_SYM_OBJECT, MSD_SYM_OTHER };

struct msd_elf_sym {
	const char *name; /* borrowed from the image, NUL-terminated */
	enum msd_sym_type type;
	bool defined;
	bool weak;
	uint64_t value; /* virtual address */
	uint64_t size;  /* bytes */
	uint64_t index; /* in the dynamic symbol table */
	/* undefined: the needed library in its version entry; NULL: not recorded */
	const char *library;
};

struct msd_elf {
	struct msd_span image;    /* borrowed; must outlive the struct */
	uint16_t machine;         /* EM_X86_64, EM_AARCH64, ... */
	struct msd_elf_sym *syms; /* global and weak, sorted by name */
	size_t n_syms;
	const char **needed; /* DT_NEEDED, borrowed strings */
	size_t n_needed;
	const char
		*search_path; /* DT_RUNPATH, else DT_RPATH; NULL if absent; borrowed */
	/* may need files in its directory: $ORIGIN in the search path with a needed
	 * library that is not the platform's, or a DT_NEEDED of a relative path */
	bool uses_origin;
	uint64_t symtab; /* virtual address of the dynamic symbol table */
	/* loadable program headers, private to elf.c */
	struct msd_elf_load *loads;
	size_t n_loads;
};

/**
 * Read @image (borrowed). Errors: MSD_BAD_ARTIFACT (not ELF, truncated, out-of-range
 * offset), MSD_UNSUPPORTED (32-bit, big-endian, relocatable object or archive: the text
 * gives the command that links it). The machine is not checked here; see
 * msd_elf_check_host().
 */
MSD_MUST_CHECK msd_err msd_elf_read(struct msd_span image, struct msd_elf *ret,
				    struct msd_diag *d);
void msd_elf_finish(struct msd_elf *elf); /* NULL and zeroed are allowed */
/** MSD_UNSUPPORTED if the library is for another machine than this process's. */
MSD_MUST_CHECK msd_err msd_elf_check_host(const struct msd_elf *elf,
					  struct msd_diag *d);
/** The machine of this process; EM_NONE if it has no name here. */
uint16_t msd_elf_host_machine(void);
/** "x86-64", "aarch64", ... or "machine 183" into @buf; returns @buf. */
const char *msd_elf_machine_format(uint16_t machine,
				   char buf[static MSD_MACHINE_NAME_MAX]);
/**
 * True if the loading process or a needed library must provide @sym: dlopen with
 * RTLD_NOW fails without it.
 */
bool msd_elf_sym_is_wanted(const struct msd_elf_sym *sym);
/** Defined symbol by name, or NULL. */
const struct msd_elf_sym *msd_elf_find(const struct msd_elf *elf, const char *name);
/**
 * The file's bytes at a virtual address; false if the loaded file bytes do not cover
 * the range.
 */
MSD_MUST_CHECK bool msd_elf_at(const struct msd_elf *elf, uint64_t address, uint64_t n,
			       struct msd_span *ret);

/** The image's bytes [offset, offset + n); false if the range exceeds the image. */
MSD_MUST_CHECK bool msd_elf_bytes(struct msd_span image, uint64_t offset, uint64_t n,
				  struct msd_span *ret);

#endif
