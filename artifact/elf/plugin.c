#include "artifact/elf/plugin.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/fd_read.h"

#define ENTRY "modserd_plugin_entry"
#define MAX_FILE_BYTES (256u << 20)

bool msd_elf_is_plugin(const struct msd_elf *elf)
{
	const struct msd_elf_sym *sym = msd_elf_find(elf, ENTRY);

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

/* The entry begins with the version of the interface, which needs no relocation. */
static msd_err read_elf(const struct msd_elf *elf, uint32_t *ret_abi,
			struct msd_plugin_list *ret, struct msd_diag *d)
{
	struct msd_span bytes;

	if (!msd_elf_is_plugin(elf)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "it has no " ENTRY ", so it is no plugin of "
				    "modserd (docs/reference/plugins.md)");
	}
	if (!msd_elf_at(elf, msd_elf_find(elf, ENTRY)->value, sizeof(*ret_abi),
			&bytes)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    ENTRY " is outside of the file");
	}
	const msd_err err = msd_elf_plugin_list(elf, ret, d);
	if (err == MSD_OK)
		memcpy(ret_abi, bytes.p, sizeof(*ret_abi));
	return err;
}

msd_err msd_elf_plugin_read(const char *path, uint32_t *ret_abi,
			    struct msd_plugin_list *ret, struct msd_diag *d)
{
	const int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct msd_buf file = {0};
	struct msd_elf elf = {0};
	msd_err err = fd >= 0 ? msd_fd_read(fd, MAX_FILE_BYTES, &file) : MSD_IO;

	if (err != MSD_OK) {
		err = msd_diag_set(d, err, "%s",
				   err == MSD_TOO_LARGE ? "it has more than 256 MiB"
							: strerror(errno));
	}
	if (err == MSD_OK)
		err = msd_elf_read((struct msd_span){file.p, file.n}, &elf, d);
	if (err == MSD_OK)
		err = msd_elf_check_host(&elf, d);
	if (err == MSD_OK)
		err = read_elf(&elf, ret_abi, ret, d);
	msd_elf_finish(&elf);
	msd_buf_finish(&file);
	if (fd >= 0)
		(void)close(fd);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "plugin %s", path);
}
