/*
 * Normal path: the headers are walked once, and the files are sorted by name. Failures
 * name the byte where the damaged header or the end is. Entries that are no files of
 * the top folder (folders, links, records of other formats) are passed over.
 */
#include "artifact/params/ustar.h"

#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"

#define BLOCK 512u
#define NAME_BYTES 100u
#define SIZE_AT 124u
#define SIZE_DIGITS 12u
#define SUM_AT 148u
#define SUM_DIGITS 8u
#define TYPE_AT 156u
#define MAGIC_AT 257u
#define PREFIX_AT 345u

bool msd_ustar_is(struct msd_span bytes)
{
	return bytes.n >= BLOCK && memcmp(bytes.p + MAGIC_AT, "ustar", 5) == 0;
}

static msd_err damaged(uint64_t at, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "damaged archive at byte %llu: %s",
			    (unsigned long long)at, what);
}

/* Read an octal number, which ends with a space or NUL; false if it has other
 * characters. */
static bool read_octal(const uint8_t *p, size_t n, uint64_t *ret)
{
	uint64_t v = 0;
	size_t i = 0;

	while (i < n && p[i] == ' ')
		i++;
	if (i == n || p[i] < '0' || p[i] > '7')
		return false;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++)
		v = v << 3 | (uint64_t)(p[i] - '0');
	if (i < n && p[i] != ' ' && p[i] != '\0')
		return false;
	*ret = v;
	return true;
}

/* The sum of a header's bytes, with spaces in the field of the sum. */
static uint64_t sum_of(const uint8_t *h)
{
	uint64_t sum = (uint64_t)' ' * SUM_DIGITS;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_DIGITS ? 0 : h[i];
	return sum;
}

static bool is_empty(const uint8_t *block)
{
	for (size_t i = 0; i < BLOCK; i++) {
		if (block[i] != 0)
			return false;
	}
	return true;
}

/* The name, without "./" before it; empty for an entry that is not a file of the top
 * folder. */
static struct msd_span name_of(const uint8_t *h)
{
	struct msd_span name = {h, strnlen((const char *)h, NAME_BYTES)};
	const bool is_file = h[TYPE_AT] == '0' || h[TYPE_AT] == '\0';

	if (name.n > 2 && name.p[0] == '.' && name.p[1] == '/')
		name = (struct msd_span){name.p + 2, name.n - 2};
	if (!is_file || h[PREFIX_AT] != '\0' || memchr(name.p, '/', name.n) != NULL)
		name.n = 0;
	return name;
}

static msd_err add(struct msd_ustar *a, struct msd_span name, struct msd_span data,
		   struct msd_diag *d)
{
	if (name.n == 0)
		return MSD_OK;
	if (a->n >= MSD_USTAR_FILES_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the archive has more than %u files",
				    MSD_USTAR_FILES_MAX);
	}
	if (!msd_grow(&a->files, a->n, sizeof(*a->files)))
		return msd_diag_no_memory(d);
	a->files[a->n++] = (struct msd_ustar_file){name, data};
	return MSD_OK;
}

static msd_err read_entries(struct msd_span archive, struct msd_ustar *a,
			    struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(archive);

	for (;;) {
		const uint64_t at = archive.n - c.left;
		const uint8_t *h = msd_cur_read(&c, BLOCK);
		uint64_t bytes, sum;

		if (h == NULL)
			return damaged(at, "it ends without its two empty blocks", d);
		if (is_empty(h)) {
			h = msd_cur_read(&c, BLOCK);
			return h != NULL && is_empty(h)
				       ? MSD_OK
				       : damaged(at, "one empty block, not two", d);
		}
		if (memcmp(h + MAGIC_AT, "ustar", 5) != 0 ||
		    !read_octal(h + SUM_AT, SUM_DIGITS, &sum) || sum != sum_of(h))
			return damaged(at, "a header whose sum does not match", d);
		if (!read_octal(h + SIZE_AT, SIZE_DIGITS, &bytes))
			return damaged(at, "a size that is not octal", d);
		if (bytes > c.left || -bytes % BLOCK > c.left - bytes)
			return damaged(at, "a file that is longer than the archive", d);
		const struct msd_span data = {msd_cur_read(&c, (size_t)bytes),
					      (size_t)bytes};
		(void)msd_cur_read(&c, (size_t)(-bytes % BLOCK));
		const msd_err err = add(a, name_of(h), data, d);
		if (err != MSD_OK)
			return err;
	}
}

static int compare(struct msd_span a, struct msd_span b)
{
	const int c = memcmp(a.p, b.p, a.n < b.n ? a.n : b.n);

	return c != 0 ? c : (a.n > b.n) - (a.n < b.n);
}

static int by_name(const void *a, const void *b)
{
	const struct msd_ustar_file *x = a, *y = b;

	return compare(x->name, y->name);
}

msd_err msd_ustar_read(struct msd_span archive, struct msd_ustar *ret,
		       struct msd_diag *d)
{
	struct msd_ustar a = {0};
	msd_err err = read_entries(archive, &a, d);

	if (err == MSD_OK && a.n > 0)
		qsort(a.files, a.n, sizeof(*a.files), by_name);
	for (size_t i = 1; err == MSD_OK && i < a.n; i++) {
		if (compare(a.files[i - 1].name, a.files[i].name) == 0) {
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   "the archive has %.*s twice",
					   (int)a.files[i].name.n,
					   (const char *)a.files[i].name.p);
		}
	}
	if (err != MSD_OK) {
		msd_ustar_finish(&a);
		return err;
	}
	*ret = a;
	return MSD_OK;
}

const struct msd_ustar_file *msd_ustar_find(const struct msd_ustar *a,
					    struct msd_span name)
{
	const struct msd_ustar_file key = {.name = name};

	if (a->n == 0)
		return NULL;
	return bsearch(&key, a->files, a->n, sizeof(*a->files), by_name);
}

void msd_ustar_finish(struct msd_ustar *a)
{
	if (a == NULL)
		return;
	free(a->files);
	*a = (struct msd_ustar){0};
}
