/*
 * Happy path: the whole file is read, then the files of modules.d, sorted by name.
 * Failures: an error names the path if the entry is not a regular file or is too
 * long. A running daemon also rejects a truncated or empty file.
 */
#include "daemon/supervisor/config/config_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "daemon/supervisor/config/config.h"
#include "daemon/supervisor/config/config_text.h"
#include "daemon/supervisor/config/preload.h"
#include "proto/base/fd_read.h"
#include "store/program.h"

#define MAX_FILE_BYTES (1u << 20)

static msd_err cannot(const char *path, msd_err err, struct msd_diag *d)
{
	return msd_diag_set(d, err, "%s: %s", path, strerror(errno));
}

/* /dev/null means an empty configuration. */
static bool is_null_device(const struct stat *st)
{
	return S_ISCHR(st->st_mode) && st->st_rdev == makedev(1, 3);
}

/*
 * When a running daemon reads the file again, an editor may still be writing it, or
 * the disk may be full. A truncated file would unload the modules of its missing
 * part.
 */
static msd_err check_whole(const char *path, const struct msd_buf *text,
			   struct msd_diag *d)
{
	if (text->n == 0) {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s: the file is empty: for an empty configuration "
				    "write a comment, \"# nothing\"",
				    path);
	}
	if (text->p[text->n - 1] != '\n') {
		return msd_diag_set(d, MSD_BAD_REQUEST,
				    "%s:%u: the last line has no newline, so the file "
				    "may be cut off: end it with a newline",
				    path,
				    msd_config_line((const char *)text->p,
						    (const char *)text->p + text->n));
	}
	return MSD_OK;
}

/* Read the whole file @path, which must be a regular file: a FIFO would block the
 * daemon. */
static msd_err read_file(const char *path, bool is_again, struct msd_buf *ret,
			 struct msd_diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;

	if (fd < 0)
		return cannot(path, MSD_IO, d);
	if (fstat(fd, &st) != 0 || (!S_ISREG(st.st_mode) && !is_null_device(&st))) {
		(void)close(fd);
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: not a file", path);
	}
	msd_err err = msd_fd_read(fd, MAX_FILE_BYTES, ret);
	if (err == MSD_NOMEM)
		(void)msd_diag_no_memory(d);
	if (err == MSD_IO)
		err = cannot(path, err, d);
	(void)close(fd);
	if (err == MSD_TOO_LARGE)
		err = msd_diag_set(d, MSD_BAD_REQUEST, "%s: more than 1 MiB", path);
	if (err == MSD_OK && is_again && S_ISREG(st.st_mode))
		err = check_whole(path, ret, d);
	return err;
}

static msd_err read_one(struct msd_options *o, const char *path, bool only_modules,
			struct msd_diag *d)
{
	struct msd_buf text = {0};
	msd_err err = read_file(path, o->is_again, &text, d);

	if (err == MSD_OK) {
		err = msd_config_parse(o, path, (struct msd_span){text.p, text.n},
				       only_modules, d);
	}
	msd_buf_finish(&text);
	return err;
}

static int is_conf(const struct dirent *e)
{
	const size_t n = strlen(e->d_name);

	return e->d_name[0] != '.' && n > 5 && strcmp(e->d_name + n - 5, ".conf") == 0;
}

static msd_err read_entry(struct msd_options *o, const char *folder, const char *name,
			  struct msd_diag *d)
{
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return msd_diag_no_memory(d);
	msd_err err = read_one(o, path, true, d);
	free(path);
	return err;
}

static msd_err read_folder(struct msd_options *o, const char *folder,
			   struct msd_diag *d)
{
	struct dirent **names;
	int n = scandir(folder, &names, is_conf, alphasort);
	msd_err err = MSD_OK;

	if (n < 0)
		return errno == ENOENT ? MSD_OK : cannot(folder, MSD_IO, d);
	for (int i = 0; i < n; i++) {
		if (err == MSD_OK)
			err = read_entry(o, folder, names[i]->d_name, d);
		free(names[i]);
	}
	free(names);
	return err;
}

msd_err msd_config_read(struct msd_options *o, const char *path, struct msd_diag *d)
{
	const char *slash = strrchr(path, '/');
	char *folder;
	msd_err err = read_one(o, path, false, d);

	if (err != MSD_OK)
		return err;
	if (asprintf(&folder, "%.*smodules.d",
		     slash != NULL ? (int)(slash + 1 - path) : 0, path) < 0)
		return msd_diag_no_memory(d);
	err = read_folder(o, folder, d);
	free(folder);
	return err;
}

static enum msd_policy policy_of(const struct msd_options *o,
				 const struct msd_preload *p)
{
	return p->terms.has_policy ? p->terms.policy : o->trust.trust.policy;
}

static bool is_insecure(const struct msd_options *o, const struct msd_preload *p)
{
	return p->terms.has_insecure ? p->terms.insecure : o->terms.insecure;
}

static msd_err check(const struct msd_options *o, const struct msd_preload *p,
		     const char *fetch_path, struct msd_diag *d)
{
	const char *const words[] = {fetch_path,
				     "--check",
				     p->source,
				     msd_policy_word(policy_of(o, p)),
				     is_insecure(o, p) ? "yes" : "no",
				     NULL};
	const msd_err err = msd_program_run((char *const *)(uintptr_t)words, d);

	return err == MSD_OK ? err : msd_diag_wrap(d, err, "%s: source", p->origin);
}

msd_err msd_config_check_sources(const struct msd_options *o, const char *fetch_path,
				 struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; err == MSD_OK && i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (p->source == NULL)
			continue;
		if (fetch_path == NULL) {
			return msd_diag_set(
				d, MSD_UNSUPPORTED,
				"%s: source: modserd-fetch is neither in the folder of "
				"modserd nor in ../libexec/modserd: set MODSERD_FETCH",
				p->origin);
		}
		err = check(o, p, fetch_path, d);
	}
	return err;
}
