/*
 * Disk cache of built device code, because compiling takes seconds and loading
 * milliseconds.
 *
 * Happy path: a key of driver, device, options and source selects a file. Its stored
 * key is compared in full before the entry is used. An entry is written to a
 * temporary file and renamed. A cache that cannot be written is disabled; this is
 * never an error.
 */
#include "runtime/device/cache.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/fd_read.h"
#include "proto/base/fnv.h"
#include "store/build_cache.h"

#define MAGIC "msdcach1"
#define MAGIC_BYTES 8u
#define HEAD_BYTES (MAGIC_BYTES + 8u) /* plus the checksum of the rest */

/* Create @path's last directory, and its parent if that is missing as well. */
static bool directory_make(char *path)
{
	if (mkdir(path, 0700) == 0 || errno == EEXIST)
		return true;
	char *slash = strrchr(path, '/');
	if (errno != ENOENT || slash == NULL || slash == path)
		return false;
	*slash = '\0';
	bool ok = mkdir(path, 0700) == 0 || errno == EEXIST;
	*slash = '/';
	return ok && (mkdir(path, 0700) == 0 || errno == EEXIST);
}

static bool path_of(const struct msd_cache_key *key, const char *directory,
		    char path[static PATH_MAX])
{
	uint64_t h = MSD_FNV_BEGIN;
	int n;

	for (size_t i = 0; i < key->n_parts; i++) {
		const uint64_t size = key->parts[i].n;
		h = msd_fnv(h, &size, sizeof(size));
		h = msd_fnv(h, key->parts[i].p, key->parts[i].n);
	}
	n = snprintf(path, PATH_MAX, "%s/%s-%016" PRIx64 MSD_BUILD_CACHE_SUFFIX,
		     directory, key->kind, h);
	return n > 0 && n < PATH_MAX;
}

static bool read_whole(const char *path, struct msd_buf *ret)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
		  st.st_uid == geteuid() && st.st_size > (off_t)HEAD_BYTES &&
		  msd_fd_read(fd, MSD_CACHE_MAX_BYTES, ret) == MSD_OK;

	/* If there are too many entries, the least recently used are removed first. */
	if (ok)
		(void)futimens(fd, NULL);
	if (fd >= 0)
		(void)close(fd);
	return ok;
}

/* The payload of @file if it is a valid entry for @key. */
static bool entry_read(const struct msd_cache_key *key, struct msd_span file,
		       struct msd_span *ret)
{
	struct msd_cur c = msd_cur_of(file);
	const uint8_t *magic = msd_cur_read(&c, MAGIC_BYTES);
	uint64_t sum = msd_cur_u64(&c);

	if (magic == NULL || c.bad || memcmp(magic, MAGIC, MAGIC_BYTES) != 0 ||
	    msd_fnv(MSD_FNV_BEGIN, c.p, c.left) != sum ||
	    msd_cur_u64(&c) != key->n_parts)
		return false;
	for (size_t i = 0; i < key->n_parts; i++) {
		struct msd_span part = msd_cur_str64(&c);
		if (c.bad || part.n != key->parts[i].n ||
		    (part.n > 0 && memcmp(part.p, key->parts[i].p, part.n) != 0))
			return false;
	}
	*ret = msd_cur_str64(&c);
	return msd_cur_end(&c);
}

bool msd_cache_get(const struct msd_cache_key *key, struct msd_buf *ret)
{
	char directory[PATH_MAX];
	char path[PATH_MAX];
	struct msd_buf file = {0};
	struct msd_span payload;
	bool ok = msd_build_cache_folder(directory) && path_of(key, directory, path) &&
		  read_whole(path, &file) &&
		  entry_read(key, (struct msd_span){file.p, file.n}, &payload);

	if (ok)
		msd_buf_put(ret, payload.p, payload.n);
	msd_buf_finish(&file);
	return ok && !ret->bad;
}

static bool write_whole(int fd, const uint8_t *p, size_t n)
{
	while (n > 0) {
		ssize_t put = write(fd, p, n);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return false;
		p += put;
		n -= (size_t)put;
	}
	return true;
}

static void file_put(const char *directory, const char *path, const struct msd_buf *b)
{
	char temporary[PATH_MAX];
	int n = snprintf(temporary, sizeof(temporary), "%s/.new-XXXXXX", directory);

	if (n <= 0 || n >= (int)sizeof(temporary))
		return;
	int fd = mkostemp(temporary, O_CLOEXEC);
	if (fd < 0)
		return;
	bool ok = write_whole(fd, b->p, b->n);
	ok = close(fd) == 0 && ok;
	if (!ok || rename(temporary, path) != 0)
		(void)unlink(temporary);
}

static void limit_keep(const char *directory)
{
	uint64_t removed;
	uint64_t left;
	msd_err err = msd_build_cache_prune(directory, msd_build_cache_limit(),
					    &removed, &left, NULL);

	(void)err; /* pruning failed: the folder keeps its size */
}

void msd_cache_put(const struct msd_cache_key *key, struct msd_span bytes)
{
	char directory[PATH_MAX];
	char path[PATH_MAX];
	struct msd_buf b = {0};

	if (!msd_build_cache_folder(directory) || !directory_make(directory) ||
	    !path_of(key, directory, path) || bytes.n > MSD_CACHE_MAX_BYTES / 2)
		return;
	msd_buf_put(&b, MAGIC, MAGIC_BYTES);
	msd_buf_put_u64(&b, 0);
	msd_buf_put_u64(&b, key->n_parts);
	for (size_t i = 0; i < key->n_parts; i++)
		msd_buf_put_str64(&b, key->parts[i].p, key->parts[i].n);
	msd_buf_put_str64(&b, bytes.p, bytes.n);
	if (!b.bad) {
		msd_put_le64(b.p + MAGIC_BYTES, msd_fnv(MSD_FNV_BEGIN, b.p + HEAD_BYTES,
							b.n - HEAD_BYTES));
		file_put(directory, path, &b);
		limit_keep(directory);
	}
	msd_buf_finish(&b);
}

void msd_cache_drop(const struct msd_cache_key *key)
{
	char directory[PATH_MAX];
	char path[PATH_MAX];

	if (msd_build_cache_folder(directory) && path_of(key, directory, path))
		(void)unlink(path);
}
