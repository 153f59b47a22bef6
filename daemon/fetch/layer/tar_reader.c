/*
 * Happy path: blocks of 512 bytes come from the file, through zlib if it is gzipped.
 * A header is checked by its sum; a longer path or a size comes from a preceding pax
 * or GNU entry. Failures: the stream ends inside an entry, a header is no header, or
 * a limit is reached.
 */
#include "daemon/fetch/layer/tar_reader.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/errno_text.h"

#define BLOCK 512u
#define MAX_EXTENSION (64u * 1024u) /* bytes of a pax or GNU entry */

/* Positions in a header. */
#define SIZE_AT 124u
#define SUM_AT 148u
#define SUM_BYTES 8u
#define TYPE_AT 156u
#define MAGIC_AT 257u
#define PREFIX_AT 345u
#define NAME_BYTES 100u
#define PREFIX_BYTES 155u

/* Facts about the next file from the entries before it. */
struct extension {
	char path[MSD_TAR_PATH];
	uint64_t bytes;
	bool has_path, has_bytes, is_bad;
};

static msd_err damaged(const char *why, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "the archive is damaged: %s", why);
}

/* Octal with blanks around, or GNU's big-endian binary. */
static bool read_number(const uint8_t *p, size_t n, uint64_t *ret)
{
	uint64_t value = 0;
	size_t i = 0;

	if (p[0] == 0x80) {
		for (i = 1; i < n; i++) {
			if (value >> 56 != 0)
				return false;
			value = value << 8 | p[i];
		}
		*ret = value;
		return value >> 63 == 0;
	}
	while (i < n && p[i] == ' ')
		i++;
	for (; i < n && p[i] >= '0' && p[i] <= '7'; i++) {
		if (value >> 60 != 0)
			return false;
		value = value << 3 | (uint64_t)(p[i] - '0');
	}
	*ret = value;
	return i == n || p[i] == '\0' || p[i] == ' ';
}

static bool has_sum(const uint8_t *header)
{
	uint64_t expected = 0, sum = 0;

	for (size_t i = 0; i < BLOCK; i++)
		sum += i >= SUM_AT && i < SUM_AT + SUM_BYTES ? ' ' : header[i];
	return read_number(header + SUM_AT, SUM_BYTES, &expected) && sum == expected;
}

static bool is_zero(const uint8_t *block)
{
	for (size_t i = 0; i < BLOCK; i++) {
		if (block[i] != 0)
			return false;
	}
	return true;
}

static bool is_gzip(struct msd_span head)
{
	return head.n > 2 && head.p[0] == 0x1f && head.p[1] == 0x8b && head.p[2] == 8;
}

bool msd_tar_is(struct msd_span head)
{
	return is_gzip(head) ||
	       (head.n >= BLOCK && !is_zero(head.p) && has_sum(head.p));
}

static msd_err read_file(struct msd_tar_reader *t, void *to, size_t n, size_t *ret_n,
			 struct msd_diag *d)
{
	char text[MSD_ERRNO_TEXT_BYTES];
	ssize_t got = 0;

	if (n > t->end - t->at)
		n = (size_t)(t->end - t->at);
	if (n > 0) {
		do {
			got = pread(t->fd, to, n, (off_t)t->at);
		} while (got < 0 && errno == EINTR);
	}
	if (got < 0)
		return msd_diag_set(d, MSD_IO, "%s", msd_errno_text(errno, text));
	t->at += (uint64_t)got;
	*ret_n = (size_t)got;
	return MSD_OK;
}

/* A gzip file may consist of several members, one after the other. */
static msd_err inflate_some(struct msd_tar_reader *t, void *to, size_t n, size_t *ret_n,
			    struct msd_diag *d)
{
	z_stream *z = &t->inflater;
	msd_err err = MSD_OK;

	z->next_out = to;
	z->avail_out = (uInt)n;
	while (z->avail_out == n && !t->is_ended) {
		size_t got = z->avail_in;

		if (got == 0) {
			err = read_file(t, t->in, sizeof(t->in), &got, d);
			z->next_in = t->in;
			z->avail_in = (uInt)got;
		}
		if (err != MSD_OK)
			return err;
		if (got == 0)
			return damaged("its gzip data is truncated", d);
		const int rc = inflate(z, Z_NO_FLUSH);
		if (rc == Z_STREAM_END) {
			t->is_ended = z->avail_in == 0 && t->at == t->end;
			if (!t->is_ended && inflateReset(z) != Z_OK)
				return damaged("its gzip data is invalid", d);
		} else if (rc == Z_MEM_ERROR) {
			return msd_diag_no_memory(d);
		} else if (rc != Z_OK && rc != Z_BUF_ERROR) {
			return damaged("its gzip data is invalid", d);
		}
	}
	*ret_n = n - z->avail_out;
	return MSD_OK;
}

/* Fill @to, unless the stream ends: *@ret_n is less then. */
static msd_err take(struct msd_tar_reader *t, void *to, size_t n, size_t *ret_n,
		    struct msd_diag *d)
{
	uint8_t *p = to;

	*ret_n = 0;
	if (n > t->unpacked) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the archive unpacks to more bytes than the limit "
				    "of %u times its size",
				    MSD_TAR_MAX_RATIO);
	}
	while (*ret_n < n) {
		size_t got = 0;
		const msd_err err =
			t->is_gzip ? inflate_some(t, p + *ret_n, n - *ret_n, &got, d)
				   : read_file(t, p + *ret_n, n - *ret_n, &got, d);

		if (err != MSD_OK)
			return err;
		if (got == 0)
			break;
		*ret_n += got;
	}
	t->unpacked -= *ret_n;
	return MSD_OK;
}

static msd_err take_all(struct msd_tar_reader *t, void *to, size_t n,
			struct msd_diag *d)
{
	size_t got;
	const msd_err err = take(t, to, n, &got, d);

	return err == MSD_OK && got < n ? damaged("it is truncated", d) : err;
}

static msd_err skip(struct msd_tar_reader *t, uint64_t n, struct msd_diag *d)
{
	uint8_t waste[16384];
	msd_err err = MSD_OK;

	if (!t->is_gzip) {
		if (n > t->end - t->at)
			return damaged("it is truncated", d);
		t->at += n;
		return MSD_OK;
	}
	while (err == MSD_OK && n > 0) {
		const size_t step = n < sizeof(waste) ? (size_t)n : sizeof(waste);

		err = take_all(t, waste, step, d);
		n -= step;
	}
	return err;
}

/* Only a path that stays inside the archive and can be shown. */
static bool is_path(const char *path)
{
	size_t n = 0;

	if (path[0] == '\0' || path[0] == '/')
		return false;
	for (const char *part = path; *part != '\0'; part += n) {
		part += *part == '/';
		n = strcspn(part, "/");
		if (n == 2 && strncmp(part, "..", 2) == 0)
			return false;
	}
	for (const char *p = path; *p != '\0'; p++) {
		if ((unsigned char)*p < ' ' || *p == 0x7f)
			return false;
	}
	return true;
}

static void set_path(struct extension *e, const uint8_t *p, size_t n)
{
	n = strnlen((const char *)p, n);
	e->has_path = true;
	e->is_bad |= n >= sizeof(e->path);
	if (n >= sizeof(e->path))
		n = sizeof(e->path) - 1;
	memcpy(e->path, p, n);
	e->path[n] = '\0';
}

/* Records of "LENGTH KEY=VALUE\n". */
static msd_err read_pax(struct extension *e, const uint8_t *p, size_t n,
			struct msd_diag *d)
{
	while (n > 0) {
		size_t length = 0, i = 0;

		for (; i < n && p[i] >= '0' && p[i] <= '9' && length <= n; i++)
			length = 10 * length + (size_t)(p[i] - '0');
		if (i == 0 || i >= n || p[i] != ' ' || length > n || length < i + 3 ||
		    p[length - 1] != '\n')
			return damaged("a pax record is invalid", d);
		const struct msd_span record = {p + i + 1, length - i - 2};
		struct msd_span value;
		if (msd_span_behind(record, "path=", &value)) {
			set_path(e, value.p, value.n);
		} else if (msd_span_behind(record, "size=", &value)) {
			e->has_bytes = true;
			e->bytes = 0;
			for (size_t k = 0; k < value.n; k++) {
				if (value.p[k] < '0' || value.p[k] > '9' ||
				    e->bytes > UINT64_MAX / 32)
					return damaged("a pax size is invalid", d);
				e->bytes = 10 * e->bytes + (uint64_t)(value.p[k] - '0');
			}
		} else if (msd_span_begins(record, "GNU.sparse.")) {
			e->is_bad = true;
		}
		p += length;
		n -= length;
	}
	return MSD_OK;
}

static msd_err read_extension(struct msd_tar_reader *t, uint8_t type,
			      struct extension *e, struct msd_diag *d)
{
	const size_t n = (size_t)t->left;
	msd_err err = MSD_OK;

	if (t->left > MAX_EXTENSION)
		return damaged("an entry before a file is too large", d);
	uint8_t *p = malloc(n + 1);
	if (p == NULL)
		return msd_diag_no_memory(d);
	err = take_all(t, p, n, d);
	if (err == MSD_OK && type == 'x') {
		err = read_pax(e, p, n, d);
	} else if (err == MSD_OK) {
		set_path(e, p, n);
	}
	free(p);
	t->left = 0;
	return err;
}

static void header_path(const uint8_t *h, char ret[static MSD_TAR_PATH])
{
	const char *name = (const char *)h, *prefix = (const char *)h + PREFIX_AT;
	const bool has_prefix =
		memcmp(h + MAGIC_AT, "ustar", 6) == 0 && prefix[0] != '\0';
	const size_t n = has_prefix ? strnlen(prefix, PREFIX_BYTES) : 0;
	const size_t n_name = strnlen(name, NAME_BYTES);

	memcpy(ret, prefix, n);
	ret[n] = '/';
	memcpy(ret + n + has_prefix, name, n_name);
	ret[n + has_prefix + n_name] = '\0';
}

static void finish_path(struct msd_tar_reader *t, const uint8_t *header,
			const struct extension *e)
{
	char path[MSD_TAR_PATH];
	const char *p = path;

	if (e->has_path) {
		memcpy(path, e->path, sizeof(path));
	} else {
		header_path(header, path);
	}
	while (p[0] == '.' && p[1] == '/')
		p += 2;
	memmove(t->path, p, strlen(p) + 1);
}

/* Read the next header; *@ret_type is 0 at the end of the archive. */
static msd_err read_header(struct msd_tar_reader *t, uint8_t header[static BLOCK],
			   uint8_t *ret_type, struct msd_diag *d)
{
	size_t got;
	msd_err err = skip(t, t->left + t->padding, d);

	t->left = t->padding = 0;
	*ret_type = 0;
	if (err == MSD_OK)
		err = take(t, header, BLOCK, &got, d);
	if (err != MSD_OK || got == 0)
		return err;
	if (got < BLOCK)
		return damaged("it is truncated", d);
	if (is_zero(header))
		return MSD_OK;
	if (!has_sum(header) || !read_number(header + SIZE_AT, 12, &t->left))
		return damaged("a header is invalid", d);
	if (++t->n_entries > MSD_TAR_MAX_ENTRIES) {
		return msd_diag_set(d, MSD_TOO_LARGE,
				    "the archive has more than %u entries",
				    MSD_TAR_MAX_ENTRIES);
	}
	*ret_type = header[TYPE_AT] == '\0' ? '0' : header[TYPE_AT];
	/* Links, devices and folders have no data, whatever their size says. */
	if (*ret_type >= '1' && *ret_type <= '6')
		t->left = 0;
	t->padding = (BLOCK - t->left % BLOCK) % BLOCK;
	return MSD_OK;
}

/* Read the next entry that is not about another one, with the facts before it. */
static msd_err read_entry(struct msd_tar_reader *t, struct extension *e,
			  uint8_t header[static BLOCK], uint8_t *ret_type,
			  struct msd_diag *d)
{
	msd_err err = read_header(t, header, ret_type, d);

	while (err == MSD_OK && (*ret_type == 'x' || *ret_type == 'L' ||
				 *ret_type == 'g' || *ret_type == 'K')) {
		if (*ret_type == 'x' || *ret_type == 'L')
			err = read_extension(t, *ret_type, e, d);
		if (err == MSD_OK)
			err = read_header(t, header, ret_type, d);
	}
	return err;
}

msd_err msd_tar_next(struct msd_tar_reader *t, bool *ret_more, struct msd_diag *d)
{
	uint8_t header[BLOCK], type;
	bool is_file;

	do {
		struct extension e = {0};
		const msd_err err = read_entry(t, &e, header, &type, d);

		*ret_more = false;
		if (err != MSD_OK || type == 0)
			return err;
		if (type == 'S')
			return damaged("it has a sparse file", d);
		is_file = type == '0' || type == '7';
		if (e.has_bytes && is_file) {
			t->left = e.bytes;
			t->padding = (BLOCK - t->left % BLOCK) % BLOCK;
		}
		t->bytes = t->left;
		finish_path(t, header, &e);
		is_file = is_file && !e.is_bad && is_path(t->path);
	} while (!is_file);
	*ret_more = true;
	return MSD_OK;
}

msd_err msd_tar_read(struct msd_tar_reader *t, void *to, size_t n, size_t *ret_n,
		     struct msd_diag *d)
{
	if (n > t->left)
		n = (size_t)t->left;
	const msd_err err = take_all(t, to, n, d);

	*ret_n = n;
	if (err == MSD_OK)
		t->left -= n;
	return err;
}

msd_err msd_tar_open(struct msd_tar_reader *t, int fd, uint64_t bytes,
		     struct msd_diag *d)
{
	size_t got = 0;

	memset(t, 0, sizeof(*t));
	t->fd = fd;
	t->end = bytes;
	t->unpacked = bytes > UINT64_MAX / MSD_TAR_MAX_RATIO
			      ? UINT64_MAX
			      : bytes * MSD_TAR_MAX_RATIO;
	if (t->unpacked < MSD_TAR_MIN_LIMIT)
		t->unpacked = MSD_TAR_MIN_LIMIT;
	const msd_err err = read_file(t, t->in, 3, &got, d);
	t->at = 0;
	if (err != MSD_OK || !is_gzip((struct msd_span){t->in, got}))
		return err;
	if (inflateInit2(&t->inflater, 16 + MAX_WBITS) != Z_OK)
		return msd_diag_no_memory(d);
	t->is_gzip = true;
	return MSD_OK;
}

void msd_tar_close(struct msd_tar_reader *t)
{
	if (t->is_gzip)
		(void)inflateEnd(&t->inflater);
	t->is_gzip = false;
}
