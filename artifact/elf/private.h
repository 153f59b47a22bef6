#ifndef MSD_ARTIFACT_ELF_PRIVATE_H
#define MSD_ARTIFACT_ELF_PRIVATE_H
/* What the elf_*.c files share; nobody else includes this. */
#include "artifact/elf/elf.h"

struct msd_elf_load {
	uint64_t address;
	uint64_t offset;
	uint64_t file_bytes;
};

/** Where the dynamic section lies, as its program header says. */
struct msd_elf_dynamic {
	uint64_t offset;
	uint64_t bytes;
};

/** Say what @image is instead of a shared library, and what to do about it. */
MSD_MUST_CHECK msd_err msd_elf_refuse(struct msd_span image, struct msd_diag *d);
/** Fill needed, uses_origin and syms from the dynamic section. */
MSD_MUST_CHECK msd_err msd_elf_read_dynamic(struct msd_elf *elf,
					    struct msd_elf_dynamic where,
					    struct msd_diag *d);
/** Note of each undefined symbol which needed library its version is of. What is
 * damaged there says nothing. @strings ends in NUL. Errors: MSD_NOMEM. */
MSD_MUST_CHECK msd_err msd_elf_read_versions(struct msd_elf *elf, uint64_t versym,
					     uint64_t verneed, struct msd_span strings,
					     struct msd_diag *d);

#endif
