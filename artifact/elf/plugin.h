#ifndef MSD_ARTIFACT_ELF_PLUGIN_H
#define MSD_ARTIFACT_ELF_PLUGIN_H
/* A plugin (graph/modserd_plugin.h) as bytes: its interface version and its list, read
 * without running it. */
#include "artifact/elf/elf.h"
#include "proto/words/plugin_list.h"

/** True if the library is a plugin. */
bool msd_elf_is_plugin(const struct msd_elf *elf);
/**
 * Read its list, which is empty if it has none. Errors: those of
 * msd_plugin_list_read(); MSD_BAD_ARTIFACT: the list is outside of the file.
 */
MSD_MUST_CHECK msd_err msd_elf_plugin_list(const struct msd_elf *elf,
					   struct msd_plugin_list *ret,
					   struct msd_diag *d);
/**
 * Read the file at @path. *@ret_abi is its version of the interface. Errors: MSD_IO,
 * MSD_TOO_LARGE, those of msd_elf_read(), msd_elf_check_host() and
 * msd_elf_plugin_list(); MSD_UNSUPPORTED: the file is not a plugin. *@ret is the
 * caller's (finish it), written on success only.
 */
MSD_MUST_CHECK msd_err msd_elf_plugin_read(const char *path, uint32_t *ret_abi,
					   struct msd_plugin_list *ret,
					   struct msd_diag *d);

#endif
