/*
 * Normal path: the index is read and searched for "dataPath", each shard's size gives
 * the size of the archive, and the files are read into their places. Failures: no
 * index, a name that is not a file of the folder, a file that cannot be read or that
 * shrinks.
 */
#include "proto/words/params_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "proto/base/fd_read.h"
#include "proto/base/grow.h"

#define BLOCK 512u
#define NAME_MAX_BYTES 99u /* a name in a header ends with NUL */
#define MODE_AT 100u
#define SIZE_AT 124u
#define SUM_AT 148u
#define MAGIC_AT 257u
#define FILE_MAX ((uint64_t)1 << 33) /* a size has 11 octal digits */
#define SHARD_DEPTH 3u               /* {"records": [{"dataPath": */

static const char *const index_names[] = {"tensor-cache.json", "ndarray-cache.json"};

bool msd_params_folder_is(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

void msd_params_folder_finish(struct msd_params_folder *f)
{
	for (size_t i = 0; i < f->n; i++)
		free(f->files[i].name);
	free(f->files);
	free(f->path);
	*f = (struct msd_params_folder){0};
}

static uint64_t blocks_of(uint64_t bytes)
{
	return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

/* Open @name of the folder. */
static msd_err open_file(const char *folder, const char *name, int *ret,
			 uint64_t *ret_bytes, struct msd_diag *d)
{
	struct stat st;
	char *path;

	if (asprintf(&path, "%s/%s", folder, name) < 0)
		return msd_diag_no_memory(d);
	const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	const int error = errno;
	free(path);
	if (fd < 0) {
		return msd_diag_set(d, MSD_IO, "%s/%s: %s", folder, name,
				    strerror(error));
	}
	if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode)) {
		(void)close(fd);
		return msd_diag_set(d, MSD_IO, "%s/%s: not a regular file", folder,
				    name);
	}
	*ret = fd;
	*ret_bytes = (uint64_t)st.st_size;
	return MSD_OK;
}

/* Append a file, and its place in the archive. */
static msd_err add(struct msd_params_folder *f, struct msd_span name, uint64_t bytes,
		   struct msd_diag *d)
{
	if (f->n >= MSD_PARAMS_FOLDER_FILES_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE, "%s: more than %u files", f->path,
				    MSD_PARAMS_FOLDER_FILES_MAX);
	}
	if (bytes >= FILE_MAX) {
		return msd_diag_set(d, MSD_TOO_LARGE, "%s/%.*s: it has 8 GiB or more",
				    f->path, (int)name.n, (const char *)name.p);
	}
	if (!msd_grow(&f->files, f->n, sizeof(*f->files)))
		return msd_diag_no_memory(d);
	char *copy = strndup((const char *)name.p, name.n);
	if (copy == NULL)
		return msd_diag_no_memory(d);
	f->files[f->n++] = (struct msd_params_folder_file){copy, bytes};
	f->bytes += BLOCK + blocks_of(bytes);
	return MSD_OK;
}

static bool is_plain(struct msd_span name)
{
	return name.n > 0 && name.n <= NAME_MAX_BYTES &&
	       memchr(name.p, '/', name.n) == NULL &&
	       memchr(name.p, '\\', name.n) == NULL &&
	       memchr(name.p, '\0', name.n) == NULL && !msd_span_is(name, ".") &&
	       !msd_span_is(name, "..");
}

static msd_err add_shard(struct msd_params_folder *f, struct msd_span name,
			 struct msd_diag *d)
{
	char text[NAME_MAX_BYTES + 1] = "";
	uint64_t bytes = 0;
	int fd = -1;

	if (!is_plain(name)) {
		return msd_diag_set(
			d, MSD_BAD_ARTIFACT,
			"%s/%s: \"dataPath\": \"%.*s\": expected the name of a file of "
			"this folder, of at most %u bytes",
			f->path, f->files[0].name, (int)(name.n < 200 ? name.n : 200),
			(const char *)name.p, NAME_MAX_BYTES);
	}
	memcpy(text, name.p, name.n);
	const msd_err err = open_file(f->path, text, &fd, &bytes, d);
	if (err != MSD_OK)
		return err;
	(void)close(fd);
	return add(f, name, bytes, d);
}

/* Take the string at the quote *@at, without its quotes; escapes stay. */
static struct msd_span take_string(struct msd_span text, size_t *at)
{
	const size_t begin = *at + 1;
	size_t i = begin;

	while (i < text.n && text.p[i] != '"')
		i += text.p[i] == '\\' ? 2 : 1;
	i = i < text.n ? i : text.n;
	*at = i < text.n ? i + 1 : i;
	return (struct msd_span){text.p + (begin < i ? begin : i),
				 begin < i ? i - begin : 0};
}

/* True if @c is the next character of @text from *@at on, apart from spaces. */
static bool take(struct msd_span text, size_t *at, char c)
{
	size_t i = *at;

	while (i < text.n &&
	       (text.p[i] == ' ' || (text.p[i] >= '\t' && text.p[i] <= '\r')))
		i++;
	if (i >= text.n || text.p[i] != (uint8_t)c)
		return false;
	*at = i + (c == ':');
	return true;
}

/* Add the files that the index @text names. */
static msd_err add_shards(struct msd_params_folder *f, struct msd_span text,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;
	size_t depth = 0;

	for (size_t i = 0; i < text.n && err == MSD_OK;) {
		const uint8_t c = text.p[i];

		if (c != '"') {
			depth += c == '{' || c == '[';
			depth -= (c == '}' || c == ']') && depth > 0;
			i++;
			continue;
		}
		const struct msd_span key = take_string(text, &i);
		if (depth == SHARD_DEPTH && msd_span_is(key, "dataPath") &&
		    take(text, &i, ':') && take(text, &i, '"'))
			err = add_shard(f, take_string(text, &i), d);
	}
	return err;
}

/* Open the index; *@ret is -1 if the folder has none. */
static msd_err open_index(const char *path, const char **ret_name, int *ret,
			  uint64_t *ret_bytes, struct msd_diag *d)
{
	*ret = -1;
	for (size_t i = 0; i < sizeof(index_names) / sizeof(index_names[0]); i++) {
		struct stat st;
		char *file;

		if (asprintf(&file, "%s/%s", path, index_names[i]) < 0)
			return msd_diag_no_memory(d);
		const bool is_there = stat(file, &st) == 0;
		free(file);
		*ret_name = index_names[i];
		if (is_there)
			return open_file(path, *ret_name, ret, ret_bytes, d);
	}
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "%s: a folder of parameters has an index, %s or %s", path,
			    index_names[0], index_names[1]);
}

static msd_err read_index(struct msd_params_folder *f, struct msd_diag *d)
{
	struct msd_buf text = {0};
	const char *name = index_names[0];
	uint64_t bytes = 0;
	int fd = -1;
	msd_err err = open_index(f->path, &name, &fd, &bytes, d);

	if (err != MSD_OK)
		return err;
	err = msd_fd_read(fd, MSD_PARAMS_FOLDER_INDEX_MAX, &text);
	if (err != MSD_OK) {
		err = msd_diag_set(d, err, "%s/%s: %s", f->path, name,
				   err == MSD_TOO_LARGE ? "more than 16 MiB"
				   : err == MSD_NOMEM   ? "no memory to read it"
							: strerror(errno));
	}
	if (err == MSD_OK)
		err = add(f, msd_span_of(name), text.n, d);
	if (err == MSD_OK)
		err = add_shards(f, (struct msd_span){text.p, text.n}, d);
	(void)close(fd);
	msd_buf_finish(&text);
	return err;
}

msd_err msd_params_folder_open(const char *path, uint64_t at,
			       struct msd_params_folder *ret, struct msd_diag *d)
{
	struct msd_params_folder f = {.zeros = -at % MSD_PARAMS_FOLDER_ALIGN,
				      .path = strdup(path)};
	msd_err err = f.path != NULL ? MSD_OK : msd_diag_no_memory(d);

	if (err == MSD_OK)
		err = read_index(&f, d);
	f.bytes += f.zeros + 2 * BLOCK;
	if (err != MSD_OK) {
		msd_params_folder_finish(&f);
		return err;
	}
	*ret = f;
	return MSD_OK;
}

/* The same bytes for the same file: no owner and no time. */
static void write_header(const struct msd_params_folder_file *f, uint8_t *h)
{
	unsigned sum = 0;

	(void)snprintf((char *)h, NAME_MAX_BYTES + 1, "%s", f->name);
	(void)snprintf((char *)h + MODE_AT, 8, "0000644");
	(void)snprintf((char *)h + MODE_AT + 8, 8, "0000000"); /* user, group */
	(void)snprintf((char *)h + MODE_AT + 16, 8, "0000000");
	(void)snprintf((char *)h + SIZE_AT, 12, "%011llo",
		       (unsigned long long)f->bytes);
	(void)snprintf((char *)h + SIZE_AT + 12, 12, "00000000000"); /* time */
	memset(h + SUM_AT, ' ', 8);
	h[SUM_AT + 8] = '0'; /* a regular file */
	(void)snprintf((char *)h + MAGIC_AT, 6, "ustar");
	memset(h + MAGIC_AT + 6, '0', 2);
	for (size_t i = 0; i < BLOCK; i++)
		sum += h[i];
	(void)snprintf((char *)h + SUM_AT, 8, "%06o", sum & 0777777u);
}

/* The bytes of the part that are wanted, of which the first were written. */
struct window {
	uint64_t at, end;
	uint8_t *to;
};

/* Take what the window begins with of a piece at @at with @bytes bytes; *@ret_skip is
 * where that is in the piece. 0: nothing of it. */
static size_t take_piece(const struct window *w, uint64_t at, uint64_t bytes,
			 uint64_t *ret_skip)
{
	const uint64_t end = at + bytes < w->end ? at + bytes : w->end;

	*ret_skip = w->at - at; /* pieces come in order: never below 0 */
	return w->at < end ? (size_t)(end - w->at) : 0;
}

static void advance(struct window *w, size_t n)
{
	w->at += n;
	w->to += n;
}

static void take_zeros(struct window *w, uint64_t at, uint64_t bytes)
{
	uint64_t skip;
	const size_t n = take_piece(w, at, bytes, &skip);

	memset(w->to, 0, n);
	advance(w, n);
}

static void take_header(struct window *w, const struct msd_params_folder_file *file,
			uint64_t at)
{
	uint8_t header[BLOCK] = {0};
	uint64_t skip;
	const size_t n = take_piece(w, at, BLOCK, &skip);

	if (n == 0)
		return;
	write_header(file, header);
	memcpy(w->to, header + skip, n);
	advance(w, n);
}

static msd_err take_data(struct window *w, const struct msd_params_folder *f,
			 const struct msd_params_folder_file *file, uint64_t at,
			 struct msd_diag *d)
{
	uint64_t skip, bytes;
	size_t left = take_piece(w, at, file->bytes, &skip);
	msd_err err = MSD_OK;
	int fd = -1;

	if (left == 0)
		return MSD_OK;
	err = open_file(f->path, file->name, &fd, &bytes, d);
	if (err != MSD_OK)
		return err;
	while (err == MSD_OK && left > 0) {
		const size_t most = left < (1u << 30) ? left : 1u << 30;
		const ssize_t n = pread(fd, w->to, most, (off_t)skip);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			err = msd_diag_set(d, MSD_IO, "%s/%s: %s", f->path, file->name,
					   n == 0 ? "shrank while it was read"
						  : strerror(errno));
		} else {
			advance(w, (size_t)n);
			skip += (uint64_t)n;
			left -= (size_t)n;
		}
	}
	(void)close(fd);
	return err;
}

msd_err msd_params_folder_read(const struct msd_params_folder *f, uint64_t at,
			       uint8_t *to, size_t n, struct msd_diag *d)
{
	struct window w = {at, at + n, to};
	uint64_t place = f->zeros;
	msd_err err = MSD_OK;

	take_zeros(&w, 0, f->zeros);
	for (size_t i = 0; err == MSD_OK && i < f->n && w.at < w.end; i++) {
		const struct msd_params_folder_file *file = &f->files[i];
		const uint64_t data = place + BLOCK;

		place = data + blocks_of(file->bytes);
		if (place <= w.at)
			continue;
		take_header(&w, file, data - BLOCK);
		err = take_data(&w, f, file, data, d);
		if (err == MSD_OK)
			take_zeros(&w, data + file->bytes, place - data - file->bytes);
	}
	if (err == MSD_OK)
		take_zeros(&w, place, f->bytes - place);
	return err;
}
