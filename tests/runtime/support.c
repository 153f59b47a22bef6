#include "tests/runtime/support.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "runtime/load/loaded.h"

static struct msd_span file_map(const char *path, int *ret_fd)
{
	struct stat st;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	cr_assert(fd >= 0 && fstat(fd, &st) == 0, "open %s", path);
	void *p = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	cr_assert(p != MAP_FAILED, "map %s", path);
	if (ret_fd != NULL) {
		*ret_fd = fd;
	} else {
		(void)close(fd);
	}
	return (struct msd_span){p, (size_t)st.st_size};
}

static void file_unmap(struct msd_span s)
{
	(void)munmap((void *)(uintptr_t)s.p, s.n);
}

msd_err lib_open(struct lib *lib, const char *path, bool probe)
{
	const struct msd_load_options options = {.label = "test.so",
						 .probe_signatures = probe};

	*lib = (struct lib){.fd = -1};
	lib->file = file_map(path, &lib->fd);
	return msd_loaded_open(lib->fd, lib->file, &options, &lib->loaded, &lib->d);
}

void lib_must_open(struct lib *lib, const char *path)
{
	msd_err err = lib_open(lib, path, true);

	cr_assert(err == MSD_OK, "%s", msd_diag_text(&lib->d));
}

void lib_close(struct lib *lib)
{
	msd_loaded_close(lib->loaded);
	file_unmap(lib->file);
	(void)close(lib->fd);
	msd_diag_finish(&lib->d);
}

msd_err lib_call(struct lib *lib, const char *name, struct msd_any *args, size_t n,
		 struct msd_any *ret)
{
	const struct msd_func_info *info;
	struct msd_function *fn;
	msd_err err = msd_loaded_find(lib->loaded, name, &info, &fn, &lib->d);

	*ret = msd_none();
	if (err != MSD_OK)
		return err;
	return msd_loaded_call(lib->loaded, fn, args, n, ret, &lib->d);
}

const char *lib_signature(struct lib *lib, const char *name)
{
	const struct msd_func_info *info;
	struct msd_function *fn;
	msd_err err = msd_loaded_find(lib->loaded, name, &info, &fn, &lib->d);

	cr_assert(err == MSD_OK, "%s", msd_diag_text(&lib->d));
	return info->signature->text != NULL ? info->signature->text : "";
}

const char *fixture_path(const char *name)
{
	static char path[4096];
	const char *dir = getenv("MODSERD_FIXTURES");

#ifndef __x86_64__
	printf("skipped: the fixture %s is code for x86-64\n", name);
	return NULL;
#endif
	if (dir != NULL) {
		(void)snprintf(path, sizeof(path), "%s/%s", dir, name);
	} else {
		(void)snprintf(path, sizeof(path), "%s/../shared/fixtures/%s",
			       MSD_SOURCE_DIR, name);
	}
	if (access(path, R_OK) == 0)
		return path;
	printf("skipped: no fixture %s\n", name);
	return NULL;
}

static struct msd_dtype descr_dtype(const char *header)
{
	const char *at = strstr(header, "'descr': '");
	char kind;
	int bytes;
	struct msd_dtype t = {.lanes = 1};

	cr_assert(at != NULL && sscanf(at + 10, "%*[<|=]%c%d", &kind, &bytes) == 2);
	t.bits = (uint8_t)(bytes * 8);
	switch (kind) {
	case 'f':
		t.code = MSD_DT_FLOAT;
		break;
	case 'i':
		t.code = MSD_DT_INT;
		break;
	case 'b':
		t.code = MSD_DT_BOOL;
		break;
	default:
		t.code = MSD_DT_UINT;
		break;
	}
	return t;
}

/* A version 1 .npy at the beginning of @s; *@ret_bytes: how much of it that was. */
static struct msd_tensor *npy_parse(struct msd_span s, size_t *ret_bytes)
{
	char header[1024] = "";
	int64_t shape[8];
	size_t ndim = 0;

	cr_assert(s.n > 10 && memcmp(s.p, "\x93NUMPY\x01", 7) == 0);
	const size_t n = msd_le16(s.p + 8);
	cr_assert(n < sizeof(header) && n + 10 <= s.n);
	memcpy(header, s.p + 10, n);
	char *at = strstr(header, "'shape': (");
	cr_assert(at != NULL);
	for (at += 10; *at != ')' && ndim < 8;) {
		char *end;
		shape[ndim++] = strtoll(at, &end, 10);
		at = end + strspn(end, ", ");
	}
	struct msd_tensor *t = msd_tensor_new(descr_dtype(header), shape, ndim);
	cr_assert(t != NULL);
	const size_t bytes = msd_dltensor_bytes(&t->dl);
	cr_assert(10 + n + bytes <= s.n);
	memcpy(t->dl.data, s.p + 10 + n, bytes);
	*ret_bytes = 10 + n + bytes;
	return t;
}

struct msd_tensor *npy_read_file(const char *path)
{
	struct msd_span file = file_map(path, NULL);
	size_t used;
	struct msd_tensor *t = npy_parse(file, &used);

	file_unmap(file);
	return t;
}

struct msd_tensor *npz_read(const char *path, const char *key)
{
	struct msd_span file = file_map(path, NULL);
	struct msd_span s = file;
	struct msd_tensor *t = NULL;
	char name[256];

	(void)snprintf(name, sizeof(name), "%s.npy", key);
	while (s.n > 30 && memcmp(s.p, "PK\x03\x04", 4) == 0) {
		const size_t n_name = msd_le16(s.p + 26);
		const size_t skip = 30 + n_name + msd_le16(s.p + 28);
		const bool is_it =
			n_name == strlen(name) && memcmp(s.p + 30, name, n_name) == 0;
		size_t used;
		t = npy_parse((struct msd_span){s.p + skip, s.n - skip}, &used);
		if (is_it)
			break;
		msd_obj_unref(&t->obj);
		t = NULL;
		s.p += skip + used;
		s.n -= skip + used;
	}
	file_unmap(file);
	cr_assert(t != NULL, "%s holds no %s", path, key);
	return t;
}

struct msd_tensor *tensor_like(const struct msd_tensor *t)
{
	struct msd_tensor *copy =
		msd_tensor_new(t->dl.dtype, t->dl.shape, (size_t)t->dl.ndim);

	cr_assert(copy != NULL);
	memset(copy->dl.data, 0, msd_dltensor_bytes(&copy->dl));
	return copy;
}

struct msd_tensor *tensor_counting(int64_t n)
{
	const struct msd_dtype f32 = {MSD_DT_FLOAT, 32, 1};
	struct msd_tensor *t = msd_tensor_new(f32, &n, 1);

	cr_assert(t != NULL);
	for (int64_t i = 0; i < n; i++)
		((float *)t->dl.data)[i] = (float)i;
	return t;
}
