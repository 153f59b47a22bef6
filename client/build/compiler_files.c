/* The folder of a compiler's run: its inputs and products. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "client/build/compiler.h"
#include "client/cli/values/file.h"

#define PATH_BYTES MSD_COMPILER_PATH_BYTES

void msd_compiler_path(const struct msd_compiler *c, const char *name,
		       char path[static PATH_BYTES])
{
	(void)snprintf(path, PATH_BYTES, "%s/%s", c->dir, name);
}

msd_err msd_compiler_write(const struct msd_compiler *c, const char *name,
			   struct msd_span data, struct msd_diag *d)
{
	char path[PATH_BYTES];

	msd_compiler_path(c, name, path);
	return msd_file_write(path, &data, 1, d);
}

msd_err msd_compiler_read(const struct msd_compiler *c, const char *name,
			  struct msd_buf *ret, struct msd_diag *d)
{
	char path[PATH_BYTES];

	msd_compiler_path(c, name, path);
	return msd_file_read(path, ret, d);
}

/* Copy between two file systems. */
static msd_err copy(const struct msd_compiler *c, const char *name, const char *path,
		    struct msd_diag *d)
{
	struct msd_buf bytes = {0};
	msd_err err = msd_compiler_read(c, name, &bytes, d);

	if (err == MSD_OK)
		err = msd_file_replace(path, (struct msd_span){bytes.p, bytes.n}, d);
	msd_buf_finish(&bytes);
	return err;
}

msd_err msd_compiler_move(const struct msd_compiler *c, const char *name,
			  const char *path, struct msd_diag *d)
{
	char from[PATH_BYTES];
	struct stat st;

	msd_compiler_path(c, name, from);
	if (stat(from, &st) != 0)
		return msd_diag_set(d, MSD_IO, "%s: the compiler wrote no file", path);
	if (rename(from, path) == 0)
		return MSD_OK;
	if (errno != EXDEV)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	msd_err err = copy(c, name, path, d);
	if (err == MSD_OK && chmod(path, st.st_mode & 0777) != 0)
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	return err;
}
