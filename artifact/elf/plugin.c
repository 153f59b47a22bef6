#include "artifact/elf/plugin.h"

bool msd_elf_is_plugin(const struct msd_elf *elf)
{
	const struct msd_elf_sym *sym = msd_elf_find(elf, "modserd_plugin_entry");

	return sym != NULL && sym->defined;
}

msd_err msd_elf_plugin_list(const struct msd_elf *elf, struct msd_plugin_list *ret,
			    struct msd_diag *d)
{
	const struct msd_elf_sym *sym = msd_elf_find(elf, MSD_PLUGIN_LIST_SYMBOL);
	struct msd_span text;

	*ret = (struct msd_plugin_list){0};
	if (sym == NULL || !sym->defined)
		return MSD_OK;
	if (!msd_elf_at(elf, sym->value, sym->size, &text)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    MSD_PLUGIN_LIST_SYMBOL " is outside of the file");
	}
	return msd_plugin_list_read(text, ret, d);
}
