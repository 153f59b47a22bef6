#include "client/cli/values/objects.h"

#include <elf.h>
#include <stddef.h>
#include <string.h>

#include "artifact/mlf/archive.h"
#include "client/build/linker.h"

static bool is_source(const char *path, struct msd_span file)
{
	return msd_archive_path_is(path, "", ".c") && file.n > 0 &&
	       memchr(file.p, '\0', file.n) == NULL;
}

static bool is_object(struct msd_span file)
{
	return file.n >= sizeof(Elf64_Ehdr) && memcmp(file.p, ELFMAG, SELFMAG) == 0 &&
	       msd_le16(file.p + offsetof(Elf64_Ehdr, e_type)) == ET_REL;
}

bool msd_objects_is_one(const char *path, struct msd_span file)
{
	return is_object(file) || is_source(path, file);
}

msd_err msd_objects_check_whole(const char *path, struct msd_span file,
				struct msd_diag *d)
{
	Elf64_Ehdr head;

	if (!is_object(file) && !msd_archive_path_is(path, "", ".o"))
		return MSD_OK;
	if (file.n >= sizeof(head)) {
		memcpy(&head, file.p, sizeof(head));
		if (memcmp(file.p, ELFMAG, SELFMAG) == 0 && head.e_shoff <= file.n &&
		    (size_t)head.e_shnum * head.e_shentsize <= file.n - head.e_shoff)
			return MSD_OK;
	}
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "an object file that is damaged or cut off: its %zu "
			    "bytes do not hold its sections",
			    file.n);
}

/* Its symbols would be missing. */
static bool is_other_source(const char *path)
{
	static const char *const ends[] = {".cc", ".cpp", ".cxx", ".cu", ".ll", ".S"};

	for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
		if (msd_archive_path_is(path, "", ends[i]))
			return true;
	}
	return false;
}

static msd_err add_files(struct msd_linker *l, const struct msd_archive *a,
			 struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < a->n; i++) {
		const struct msd_archive_file *f = &a->files[i];
		const struct msd_span data = {f->data.p, f->data.n};

		if (msd_archive_path_is(f->path, "", ".h")) {
			err = msd_linker_add_header(l, f->path, data, d);
		} else if (msd_archive_path_is(f->path, "", ".c")) {
			err = msd_linker_add(l, ".c", data, d);
		} else if (msd_archive_path_is(f->path, "", ".o")) {
			err = msd_linker_add_object(l, f->path, data, d);
		} else if (is_other_source(f->path)) {
			err = msd_diag_set(d, MSD_UNSUPPORTED,
					   "%.128s: only objects (*.o) and C sources "
					   "(*.c) can be linked",
					   f->path);
		}
	}
	return err;
}

static msd_err add_archive(struct msd_linker *l, struct msd_span file,
			   struct msd_diag *d)
{
	struct msd_archive a = {0};
	msd_err err = msd_archive_read(file, &a, d);

	if (err == MSD_OK)
		err = add_files(l, &a, d);
	msd_archive_finish(&a);
	return err;
}

msd_err msd_objects_link(const struct msd_cli *cli, const char *path,
			 struct msd_span file, struct msd_buf *ret, struct msd_diag *d)
{
	struct msd_linker linker = {0};
	msd_err err = msd_linker_open(&linker, cli, d);

	if (err == MSD_OK) {
		err = is_object(file)         ? msd_linker_add(&linker, ".o", file, d)
		      : is_source(path, file) ? msd_linker_add(&linker, ".c", file, d)
					      : add_archive(&linker, file, d);
	}
	if (err == MSD_OK)
		err = msd_linker_link(&linker, ret, d);
	msd_linker_close(&linker);
	return err;
}
