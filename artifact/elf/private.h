#ifndef MSD_ARTIFACT_ELF_PRIVATE_H
#define MSD_ARTIFACT_ELF_PRIVATE_H
/* Private declarations of the elf_*.c files. */
#include "artifact/elf/elf.h"

struct msd_elf_load {
	uint64_t address;
	uint64_t offset;
	uint64_t file_bytes;
};

/** Location of the dynamic section, from its program header. */
struct msd_elf_dynamic {
	uint64_t offset;
	uint64_t bytes;
};

/** Report the type of @image, which is not a shared library, and a solution. */
MSD_MUST_CHECK msd_err msd_elf_refuse(struct msd_span image, struct msd_diag *d);
/** Fill needed, uses_origin and syms from the dynamic section. */
MSD_MUST_CHECK msd_err msd_elf_read_dynamic(struct msd_elf *elf,
					    struct msd_elf_dynamic where,
					    struct msd_diag *d);
/**
 * Record the needed library of each undefined symbol from its version. Damaged
 * entries are ignored. @strings ends in NUL. Errors: MSD_NOMEM.
 */
MSD_MUST_CHECK msd_err msd_elf_read_versions(struct msd_elf *elf, uint64_t versym,
					     uint64_t verneed, struct msd_span strings,
					     struct msd_diag *d);

#endif
