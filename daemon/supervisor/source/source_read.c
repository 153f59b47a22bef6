/*
 * Make a source from local files: the parts of a library, one after the other, or a
 * model and the files that it names, each on a page of its own. The folder of a
 * SavedModel stands for its model and the files of its variables, and a folder of
 * parameters for an archive of its shards.
 *
 * Happy path: open all files, to know how much memory to reserve, then copy them. A
 * file that replaces an opened one is not read. Failures: a file cannot be read, or
 * is shorter than at the check of its size.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <unistd.h>

#include "daemon/segments/reserve.h"
#include "daemon/supervisor/source/source.h"
#include "proto/base/grow.h"
#include "proto/value.h"
#include "proto/words/external_data.h"
#include "proto/words/params_folder.h"

struct part {
	char *path;  /* owned */
	size_t name; /* where the name begins that the model calls it */
	int fd;      /* owned; -1: none */
	uint64_t at, bytes;
};

struct parts {
	struct part *part;
	size_t n;
	uint64_t bytes;                  /* of all */
	struct msd_params_folder folder; /* instead of a file of parameters */
	uint64_t folder_at;
};

static msd_err copy_bytes(int from, int to, uint64_t bytes, const char *path,
			  struct msd_diag *d)
{
	while (bytes > 0) {
		ssize_t n =
			sendfile(to, from, NULL, bytes < (1u << 30) ? bytes : 1u << 30);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			return msd_diag_set(d, MSD_IO, "%s: %s", path,
					    n == 0 ? "shrank while it was read"
						   : strerror(errno));
		}
		bytes -= (uint64_t)n;
	}
	return MSD_OK;
}

static msd_err open_file(const char *path, int *ret, uint64_t *ret_bytes,
			 struct msd_diag *d)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat st;
	msd_err err = MSD_OK;

	if (fd < 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		err = msd_diag_set(d, MSD_IO, "%s: not a regular file", path);
	} else if (st.st_size == 0) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: an empty file", path);
	}
	if (err != MSD_OK) {
		(void)close(fd);
		return err;
	}
	*ret = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return MSD_OK;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

/* Add a file that begins at @at. */
static msd_err add(struct parts *parts, const char *path, size_t n, uint64_t at,
		   struct msd_diag *d)
{
	if (!msd_grow(&parts->part, parts->n, sizeof(*parts->part)))
		return msd_diag_no_memory(d);
	struct part *p = &parts->part[parts->n];
	*p = (struct part){.path = strndup(path, n), .fd = -1, .at = at};
	if (p->path == NULL)
		return msd_diag_no_memory(d);
	p->name = (size_t)(base_name(p->path) - p->path);
	parts->n++;
	msd_err err = open_file(p->path, &p->fd, &p->bytes, d);
	if (err == MSD_OK)
		parts->bytes = at + p->bytes;
	return err;
}

static msd_err check_number(size_t n, struct msd_diag *d)
{
	return n < MSD_EXTERNAL_DATA_MAX
		       ? MSD_OK
		       : msd_diag_set(d, MSD_TOO_LARGE,
				      "more than %u external data files of the model",
				      MSD_EXTERNAL_DATA_MAX);
}

/* Add the files @with that follow a model, after its first @n files. */
static msd_err add_beside(struct parts *parts, size_t n, const char *with,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;

	while (err == MSD_OK && with != NULL) {
		const size_t length = strcspn(with, ":");

		err = check_number(parts->n - n, d);
		if (err == MSD_OK) {
			err = add(parts, with, length,
				  msd_external_data_at(parts->bytes), d);
		}
		with = with[length] == ':' ? with + length + 1 : NULL;
	}
	return err;
}

/* Write the list of the files after the first @n. */
static msd_err write_list(const struct parts *parts, size_t n, struct msd_buf *list,
			  struct msd_diag *d)
{
	if (parts->n == n)
		return MSD_OK;
	msd_pack_array(list, parts->n - n);
	for (size_t i = n; i < parts->n; i++) {
		const struct part *p = &parts->part[i];

		msd_pack_array(list, 2);
		msd_pack_cstr(list, p->path + p->name);
		msd_pack_uint(list, p->bytes);
	}
	return list->bad ? msd_diag_no_memory(d) : MSD_OK;
}

/* ---- The folder of a SavedModel ---- */

static bool is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

/* Add the file @name of @folder, which the model calls @name. */
static msd_err add_within(struct parts *parts, const char *folder, const char *name,
			  struct msd_diag *d)
{
	const uint64_t at =
		parts->n > 0 ? msd_external_data_at(parts->bytes) : parts->bytes;
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return msd_diag_no_memory(d);
	msd_err err = add(parts, path, strlen(path), at, d);
	if (err == MSD_OK)
		parts->part[parts->n - 1].name = strlen(folder) + 1;
	free(path);
	return err;
}

static int is_of_variables(const struct dirent *e)
{
	return strncmp(e->d_name, "variables.", strlen("variables.")) == 0;
}

/* Add the files of variables/, which need not exist, in the order of their names. */
static msd_err add_variables(struct parts *parts, const char *folder,
			     struct msd_diag *d)
{
	struct dirent **names = NULL;
	msd_err err = MSD_OK;
	char *path;

	if (asprintf(&path, "%s/variables", folder) < 0)
		return msd_diag_no_memory(d);
	const int n = scandir(path, &names, is_of_variables, alphasort);
	if (n < 0 && errno != ENOENT)
		err = msd_diag_set(d, MSD_IO, "%s: %s", path, strerror(errno));
	for (int i = 0; i < n; i++) {
		char name[sizeof("variables/") + sizeof(names[i]->d_name)];

		(void)snprintf(name, sizeof(name), "variables/%s", names[i]->d_name);
		if (err == MSD_OK)
			err = check_number(parts->n - 1, d);
		if (err == MSD_OK)
			err = add_within(parts, folder, name, d);
		free(names[i]);
	}
	free((void *)names);
	free(path);
	return err;
}

/* Add the model: the file @path, or that of the folder @path. */
static msd_err add_model(struct parts *parts, const char *path, bool is_in_folder,
			 struct msd_diag *d)
{
	if (!is_in_folder)
		return add(parts, path, strlen(path), 0, d);
	const msd_err err = add_within(parts, path, "saved_model.pb", d);

	return err == MSD_OK ? err
			     : msd_diag_wrap(d, err,
					     "a folder is read as a SavedModel of "
					     "TensorFlow");
}

/* Add the parameters: a file, or a folder of shards. */
static msd_err add_params(struct parts *parts, const char *path, struct msd_diag *d)
{
	const uint64_t at = parts->bytes;

	if (!msd_params_folder_is(path))
		return add(parts, path, strlen(path), at, d);
	const msd_err err = msd_params_folder_open(path, at, &parts->folder, d);
	parts->folder_at = at;
	parts->bytes = at + parts->folder.bytes;
	return err;
}

/* Pack the folder of parameters into its place in @to. */
static msd_err copy_folder(const struct parts *parts, int to, struct msd_diag *d)
{
	const uint64_t bytes = parts->folder_at + parts->folder.bytes;

	if (parts->folder.n == 0)
		return MSD_OK;
	uint8_t *map = msd_source_map(to, bytes);
	if (map == NULL)
		return msd_diag_no_memory(d);
	const msd_err err = msd_params_folder_read(
		&parts->folder, 0, map + parts->folder_at, parts->folder.bytes, d);
	(void)munmap(map, bytes);
	return err;
}

static msd_err copy_part(const struct part *p, int to, struct msd_diag *d)
{
	if (lseek(to, (off_t)p->at, SEEK_SET) < 0)
		return msd_diag_set(d, MSD_IO, "%s: %s", p->path, strerror(errno));
	return copy_bytes(p->fd, to, p->bytes, p->path, d);
}

static void finish(struct parts *parts)
{
	for (size_t i = 0; i < parts->n; i++) {
		if (parts->part[i].fd >= 0)
			(void)close(parts->part[i].fd);
		free(parts->part[i].path);
	}
	free(parts->part);
	msd_params_folder_finish(&parts->folder);
}

static msd_err copy_all(const struct parts *parts, uint64_t max_bytes,
			struct msd_source *s, struct msd_diag *d)
{
	msd_err err = msd_source_check_size(parts->bytes, max_bytes, d);

	if (err != MSD_OK)
		return err;
	s->fd = msd_reserve_now(MSD_SOURCE_NAME, parts->bytes);
	if (s->fd < 0)
		return msd_source_no_space(parts->bytes, errno, d);
	for (size_t i = 0; i < parts->n && err == MSD_OK; i++)
		err = copy_part(&parts->part[i], s->fd, d);
	if (err == MSD_OK)
		err = copy_folder(parts, s->fd, d);
	return err == MSD_OK ? msd_source_seal(s, d) : err;
}

msd_err msd_source_read(const char *const paths[MSD_PART_COUNT], const char *with,
			uint64_t max_bytes, struct msd_source *ret, struct msd_diag *d)
{
	struct msd_source s = {.fd = -1};
	struct parts parts = {0};
	msd_err err = MSD_OK;

	const bool is_in_folder = is_folder(paths[MSD_PART_MODEL]);

	for (unsigned i = 0; i < MSD_PART_COUNT && err == MSD_OK; i++) {
		const uint64_t at = parts.bytes;

		if (i == MSD_PART_MODEL) {
			err = add_model(&parts, paths[i], is_in_folder, d);
		} else if (paths[i] != NULL && i == MSD_PART_PARAMS) {
			err = add_params(&parts, paths[i], d);
		} else if (paths[i] != NULL) {
			err = add(&parts, paths[i], strlen(paths[i]), at, d);
		}
		s.part_bytes[i] = parts.bytes - at;
	}
	const size_t n = parts.n;
	if (err == MSD_OK && is_in_folder)
		err = add_variables(&parts, paths[MSD_PART_MODEL], d);
	if (err == MSD_OK)
		err = add_beside(&parts, n, with, d);
	if (err == MSD_OK)
		err = write_list(&parts, n, &s.files, d);
	if (err == MSD_OK)
		err = copy_all(&parts, max_bytes, &s, d);
	finish(&parts);
	if (err != MSD_OK && s.fd >= 0)
		(void)close(s.fd);
	if (err != MSD_OK)
		msd_buf_finish(&s.files);
	if (err == MSD_OK)
		*ret = s;
	return err;
}
