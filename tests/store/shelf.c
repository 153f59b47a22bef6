#include "tests/store/shelf.h"

#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "store/blob.h"
#include "store/record.h"

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	perror(what);
	abort();
}

void shelf_init(struct shelf *s)
{
	struct msd_diag d = {0};

	(void)snprintf(s->path, sizeof(s->path), "%s/modserd-shelf-XXXXXX",
		       access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp");
	must(mkdtemp(s->path) != NULL, "mkdtemp");
	must(msd_store_open(&s->store, s->path, MSD_STORE_WRITE, &d) == MSD_OK,
	     msd_diag_text(&d));
}

static int remove_one(const char *path, const struct stat *st, int flag,
		      struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

void shelf_finish(struct shelf *s)
{
	msd_store_close(&s->store);
	must(nftw(s->path, remove_one, 8, FTW_DEPTH | FTW_PHYS) == 0, s->path);
}

msd_err shelf_reopen(struct shelf *s)
{
	struct msd_diag d = {0};

	msd_store_close(&s->store);
	msd_err err = msd_store_open(&s->store, s->path, MSD_STORE_WRITE, &d);
	msd_diag_finish(&d);
	return err;
}

uint8_t *shelf_bytes(unsigned seed, size_t n)
{
	uint8_t *p = malloc(n + 1);
	uint32_t x = seed * 2654435761u + 1u;

	must(p != NULL, "malloc");
	for (size_t i = 0; i < n; i++) {
		x = x * 1664525u + 1013904223u;
		p[i] = (uint8_t)(x >> 24);
	}
	return p;
}

static void digest_of(unsigned seed, size_t n, struct msd_digest *ret)
{
	uint8_t *bytes = shelf_bytes(seed, n);

	msd_digest_of((struct msd_span){bytes, n}, ret);
	free(bytes);
}

msd_err shelf_put(struct shelf *s, unsigned seed, size_t n, struct msd_digest *ret,
		  struct msd_diag *d)
{
	uint8_t *bytes = shelf_bytes(seed, n);
	struct msd_blob_writer w;

	msd_digest_of((struct msd_span){bytes, n}, ret);
	msd_err err = msd_blob_begin(&w, &s->store, ret, n, d);
	if (err == MSD_OK) {
		struct msd_span rest = {bytes + w.written, n - (size_t)w.written};

		err = msd_blob_write(&w, rest, d);
		if (err == MSD_OK) {
			err = msd_blob_commit(&w, d);
		} else {
			msd_blob_abort(&w, true);
		}
	}
	free(bytes);
	return err;
}

bool shelf_has(struct shelf *s, unsigned seed, size_t n)
{
	uint8_t *bytes = shelf_bytes(seed, n);
	uint8_t *found = malloc(n + 1);
	struct msd_diag d = {0};
	struct msd_digest digest;
	int fd = memfd_create("shelf", MFD_CLOEXEC);

	must(found != NULL && fd >= 0, "memory");
	digest_of(seed, n, &digest);
	bool is_there = msd_blob_get(&s->store, &digest, n, fd, &d) == MSD_OK &&
			pread(fd, found, n + 1, 0) == (ssize_t)n &&
			memcmp(found, bytes, n) == 0;
	msd_diag_finish(&d);
	(void)close(fd);
	free(found);
	free(bytes);
	return is_there;
}

struct msd_edition *shelf_edition(uint64_t version, unsigned seed, size_t n)
{
	static const char name[] = "deploy.so";
	struct msd_edition *e = calloc(1, sizeof(*e));
	struct msd_diag d = {0};

	must(e != NULL, "calloc");
	e->version = version;
	digest_of(seed, n, &e->digest);
	must(msd_edition_add_file(
		     e, MSD_ROLE_LIBRARY, n, &e->digest,
		     (struct msd_span){(const uint8_t *)name, sizeof(name) - 1},
		     &d) == MSD_OK,
	     name);
	return e;
}

void shelf_damage(struct shelf *s, unsigned seed, size_t n)
{
	struct msd_digest digest;
	char text[MSD_DIGEST_TEXT];
	char path[256];
	uint8_t byte = 0;

	digest_of(seed, n, &digest);
	msd_digest_format(&digest, text);
	(void)snprintf(path, sizeof(path), "%s/sha256/%.2s/%s", s->path, text, text);
	must(chmod(path, 0644) == 0, path);
	int fd = open(path, O_RDWR | O_CLOEXEC);
	must(fd >= 0 && pread(fd, &byte, 1, (off_t)n / 2) == 1, path);
	byte ^= 1;
	must(pwrite(fd, &byte, 1, (off_t)n / 2) == 1, path);
	(void)close(fd);
}
