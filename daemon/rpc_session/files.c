/*
 * Happy path: a name is checked, its bytes go into a memfd, and a load seals and maps
 * it. Failures: nothing is kept of a file whose bytes do not fit.
 */
#include "daemon/rpc_session/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

static bool is_part(struct msd_span part)
{
	return part.n > 0 && !msd_span_is(part, ".") && !msd_span_is(part, "..");
}

/* A relative path without empty parts, "." and "..". */
msd_err msd_rpc_file_name_check(struct msd_span name, struct msd_diag *d)
{
	bool is_good =
		name.n <= MSD_RPC_MAX_FILE_NAME && memchr(name.p, '\0', name.n) == NULL;

	for (struct msd_span left = name; is_good;) {
		const uint8_t *slash = memchr(left.p, '/', left.n);
		const size_t n = slash != NULL ? (size_t)(slash - left.p) : left.n;

		is_good = is_part((struct msd_span){left.p, n});
		if (slash == NULL)
			break;
		left = (struct msd_span){slash + 1, left.n - n - 1};
	}
	if (is_good)
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARGUMENT,
			    "\"%.*s\": expected the name of a file of this session",
			    (int)(name.n < 200 ? name.n : 200), (const char *)name.p);
}

static struct msd_rpc_file *find(const struct msd_rpc_files *f, struct msd_span name)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (msd_span_is(name, f->list[i].name))
			return &f->list[i];
	}
	return NULL;
}

static msd_err write_all(int fd, struct msd_span bytes, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	while (bytes.n > 0) {
		const ssize_t n = write(fd, bytes.p, bytes.n);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			return msd_diag_set(d, MSD_IO, "%s",
					    msd_errno_text(errno, text));
		}
		bytes.p += n;
		bytes.n -= (size_t)n;
	}
	return MSD_OK;
}

static msd_err make(const char *name, struct msd_span bytes, int *ret,
		    struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	const int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0) {
		return msd_diag_set(d, MSD_IO, "%s: %s", name,
				    msd_errno_text(errno, text));
	}
	const msd_err err = write_all(fd, bytes, d);
	if (err != MSD_OK) {
		(void)close(fd);
		return msd_diag_wrap(d, err, "%s", name);
	}
	*ret = fd;
	return MSD_OK;
}

static struct msd_rpc_file *append(struct msd_rpc_files *f)
{
	struct msd_rpc_file *list = realloc(f->list, (f->n + 1) * sizeof(*list));

	if (list == NULL)
		return NULL;
	f->list = list;
	return &list[f->n++];
}

/* Check that @name can be put, and write it to @ret. */
static msd_err check_room(struct msd_rpc_files *f, struct msd_span name,
			  char ret[static MSD_RPC_MAX_FILE_NAME + 1],
			  struct msd_diag *d)
{
	const msd_err err = msd_rpc_file_name_check(name, d);

	if (err != MSD_OK)
		return err;
	memcpy(ret, name.p, name.n);
	ret[name.n] = '\0';
	if (find(f, name) != NULL || f->n < f->most)
		return MSD_OK;
	return msd_diag_set(d, MSD_TOO_LARGE,
			    "%s: a session has at most %u files (--max-rpc-files)", ret,
			    f->most);
}

/* Takes @fd. */
static msd_err put(struct msd_rpc_files *f, const char *name, int fd, uint64_t bytes,
		   struct msd_diag *d)
{
	struct msd_rpc_file *file = find(f, msd_span_of(name));

	if (file != NULL) {
		(void)close(file->fd); /* a module may still have it mapped */
	} else {
		file = append(f);
	}
	if (file == NULL) {
		(void)close(fd);
		return msd_diag_no_memory(d);
	}
	*file = (struct msd_rpc_file){.fd = fd, .bytes = bytes};
	(void)snprintf(file->name, sizeof(file->name), "%s", name);
	return MSD_OK;
}

msd_err msd_rpc_files_put(struct msd_rpc_files *f, struct msd_span name,
			  struct msd_span bytes, struct msd_diag *d)
{
	char text[MSD_RPC_MAX_FILE_NAME + 1];
	int fd = -1;
	msd_err err = check_room(f, name, text, d);

	if (err == MSD_OK)
		err = make(text, bytes, &fd, d);
	return err == MSD_OK ? put(f, text, fd, bytes.n, d) : err;
}

msd_err msd_rpc_files_put_fd(struct msd_rpc_files *f, struct msd_span name, int fd,
			     struct msd_diag *d)
{
	char text[MSD_RPC_MAX_FILE_NAME + 1];
	struct stat st;
	msd_err err = check_room(f, name, text, d);

	if (err == MSD_OK && fstat(fd, &st) != 0)
		err = msd_diag_set(d, MSD_IO, "%s: its size is unknown", text);
	if (err != MSD_OK) {
		(void)close(fd);
		return err;
	}
	return put(f, text, fd, (uint64_t)st.st_size, d);
}

msd_err msd_rpc_files_find(const struct msd_rpc_files *f, struct msd_span name,
			   struct msd_rpc_file **ret, struct msd_diag *d)
{
	const msd_err err = msd_rpc_file_name_check(name, d);

	if (err != MSD_OK)
		return err;
	*ret = find(f, name);
	if (*ret != NULL)
		return MSD_OK;
	return msd_diag_set(d, MSD_NOT_FOUND, "cannot find file %.*s", (int)name.n,
			    (const char *)name.p);
}

msd_err msd_rpc_file_seal(struct msd_rpc_file *file, struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];

	if (file->bytes == 0) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "%s: the file is empty",
				    file->name);
	}
	if (file->map.p != NULL)
		return MSD_OK;
	if (fcntl(file->fd, F_ADD_SEALS,
		  F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
		return msd_diag_set(d, MSD_IO, "%s: %s", file->name,
				    msd_errno_text(errno, text));
	}
	void *p = mmap(NULL, file->bytes, PROT_READ, MAP_PRIVATE, file->fd, 0);
	if (p == MAP_FAILED) {
		return msd_diag_set(d, MSD_IO, "%s: %s", file->name,
				    msd_errno_text(errno, text));
	}
	file->map = (struct msd_span){p, file->bytes};
	return MSD_OK;
}

msd_err msd_rpc_file_read(const struct msd_rpc_file *file, struct msd_buf *ret,
			  struct msd_diag *d)
{
	uint64_t at = 0;

	if (!msd_buf_reserve(ret, file->bytes))
		return msd_diag_no_memory(d);
	while (at < file->bytes) {
		const ssize_t n =
			pread(file->fd, ret->p + ret->n, file->bytes - at, (off_t)at);
		if (n <= 0) {
			return msd_diag_set(d, MSD_IO, "%s: cannot be read",
					    file->name);
		}
		at += (uint64_t)n;
		ret->n += (size_t)n;
	}
	return MSD_OK;
}

/* The name of the entry of @folder that has @file in it; NULL: none. */
static const char *entry_in(const struct msd_rpc_file *file, struct msd_span folder,
			    size_t *ret_n)
{
	const char *at = file->name;

	if (folder.n > 0) {
		if (strlen(at) <= folder.n || at[folder.n] != '/' ||
		    memcmp(at, folder.p, folder.n) != 0)
			return NULL;
		at += folder.n + 1;
	}
	*ret_n = strcspn(at, "/");
	return at;
}

static bool is_told(const struct msd_rpc_files *f, uint32_t i, struct msd_span folder,
		    struct msd_span entry)
{
	for (uint32_t k = 0; k < i; k++) {
		size_t n;
		const char *other = entry_in(&f->list[k], folder, &n);
		if (other != NULL && n == entry.n && memcmp(other, entry.p, n) == 0)
			return true;
	}
	return false;
}

msd_err msd_rpc_files_list(const struct msd_rpc_files *f, struct msd_span folder,
			   struct msd_buf *ret, struct msd_diag *d)
{
	if (msd_span_is(folder, "."))
		folder.n = 0;
	if (folder.n > 0) {
		const msd_err err = msd_rpc_file_name_check(folder, d);
		if (err != MSD_OK)
			return err;
	}
	for (uint32_t i = 0; i < f->n; i++) {
		struct msd_span entry = {0};
		entry.p = (const uint8_t *)entry_in(&f->list[i], folder, &entry.n);
		if (entry.p == NULL || is_told(f, i, folder, entry))
			continue;
		msd_buf_put(ret, entry.p, entry.n);
		msd_buf_put(ret, ",", 1);
	}
	return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
}

void msd_rpc_files_remove(struct msd_rpc_files *f, struct msd_span name)
{
	struct msd_rpc_file *file = find(f, name);

	if (file == NULL)
		return;
	(void)close(file->fd);
	*file = f->list[--f->n];
}

void msd_rpc_files_finish(struct msd_rpc_files *f)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (f->list[i].map.p != NULL) {
			(void)munmap((void *)(uintptr_t)f->list[i].map.p,
				     f->list[i].map.n);
		}
		(void)close(f->list[i].fd);
	}
	free(f->list);
	*f = (struct msd_rpc_files){.most = f->most};
}
