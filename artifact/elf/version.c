/* Versions of undefined symbols: a table of numbers parallel to the symbol table, and
 * a list of needed libraries with the version numbers found in each. */
#include <elf.h>
#include <stdlib.h>

#include "artifact/elf/private.h"

#define MAX_VERSIONS 0x8000u /* a number has 15 bits */
#define HIDDEN 0x8000u

/* Fill @library, indexed by number, from the list of libraries at @address. */
static void read_chain(const struct msd_elf *elf, uint64_t address,
		       struct msd_span strings, const char **library)
{
	size_t budget = MAX_VERSIONS; /* the list may be cyclic */
	struct msd_span need, aux;

	while (budget-- > 0 && msd_elf_at(elf, address, sizeof(Elf64_Verneed), &need)) {
		const uint32_t name =
			msd_le32(need.p + offsetof(Elf64_Verneed, vn_file));
		uint64_t at =
			address + msd_le32(need.p + offsetof(Elf64_Verneed, vn_aux));
		uint16_t n = msd_le16(need.p + offsetof(Elf64_Verneed, vn_cnt));
		while (n-- > 0 && budget-- > 0 && name < strings.n &&
		       msd_elf_at(elf, at, sizeof(Elf64_Vernaux), &aux)) {
			const uint16_t number =
				msd_le16(aux.p + offsetof(Elf64_Vernaux, vna_other));
			const uint32_t step =
				msd_le32(aux.p + offsetof(Elf64_Vernaux, vna_next));
			if (number < MAX_VERSIONS)
				library[number] = (const char *)strings.p + name;
			if (step == 0)
				break;
			at += step;
		}
		const uint32_t next =
			msd_le32(need.p + offsetof(Elf64_Verneed, vn_next));
		if (next == 0 || budget > MAX_VERSIONS)
			return;
		address += next;
	}
}

msd_err msd_elf_read_versions(struct msd_elf *elf, uint64_t versym, uint64_t verneed,
			      struct msd_span strings, struct msd_diag *d)
{
	const char **library = NULL;
	struct msd_span number;

	if (versym == 0 || verneed == 0)
		return MSD_OK;
	library = calloc(MAX_VERSIONS, sizeof(*library));
	if (library == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory reading the ELF file");
	read_chain(elf, verneed, strings, library);
	for (size_t i = 0; i < elf->n_syms; i++) {
		struct msd_elf_sym *s = &elf->syms[i];
		if (s->defined || !msd_elf_at(elf, versym + s->index * 2, 2, &number))
			continue;
		s->library = library[msd_le16(number.p) & ~HIDDEN & 0xffffu];
	}
	free(library);
	return MSD_OK;
}
