/* Happy path: the file is read completely, changed in memory, and replaced. Failures:
 * the error names the line; a damaged file is never treated as empty. */
#include "store/minimum_versions.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proto/base/grow.h"
#include "proto/limits.h"
#include "proto/name.h"
#include "store/folder.h"

#define FILE_NAME "versions"
#define HEAD "modserd-versions 1"
#define LINE_BYTES 128u
#define TEXT_BYTES (MSD_MINIMUM_VERSIONS * LINE_BYTES)

struct msd_floor_row {
	char name[MSD_MAX_NAME_BYTES + 1];
	struct msd_key_id id;
	uint64_t version;
};

static struct msd_floor_row *row_of(const struct msd_minimum_versions *f,
				    const char *name, const struct msd_key_id *id)
{
	for (uint32_t i = 0; i < f->n; i++) {
		if (strcmp(f->rows[i].name, name) == 0 &&
		    msd_key_id_equal(&f->rows[i].id, id))
			return &f->rows[i];
	}
	return NULL;
}

uint64_t msd_minimum_versions_find(const struct msd_minimum_versions *f,
				   const char *name, const struct msd_key_id *id)
{
	const struct msd_floor_row *row = row_of(f, name, id);

	return row != NULL ? row->version : 0;
}

msd_err msd_minimum_versions_raise(struct msd_minimum_versions *f, const char *name,
				   const struct msd_key_id *id, uint64_t version,
				   struct msd_diag *d)
{
	struct msd_floor_row *row = row_of(f, name, id);

	if (row == NULL) {
		if (f->n == MSD_MINIMUM_VERSIONS) {
			return msd_diag_set(d, MSD_NO_SPACE,
					    "%s has %u lines, and no more are kept",
					    FILE_NAME, MSD_MINIMUM_VERSIONS);
		}
		if (!msd_grow(&f->rows, f->n, sizeof(*row)))
			return msd_diag_no_memory(d);
		row = &f->rows[f->n++];
		*row = (struct msd_floor_row){.id = *id};
		(void)snprintf(row->name, sizeof(row->name), "%s", name);
	}
	if (version > row->version)
		row->version = version;
	return MSD_OK;
}

/* Cut the next field of a line, up to a space or the end. */
static char *cut_word(char **rest)
{
	char *word = *rest;
	char *space = strchr(word, ' ');

	*rest = space != NULL ? space + 1 : word + strlen(word);
	if (space != NULL)
		*space = '\0';
	return word;
}

static bool read_number(const char *text, uint64_t *ret)
{
	char *end;

	if (*text < '0' || *text > '9')
		return false;
	errno = 0;
	*ret = strtoull(text, &end, 10);
	return *end == '\0' && errno == 0;
}

static bool read_id(const char *text, struct msd_key_id *ret)
{
	char again[MSD_KEY_ID_TEXT];

	if (strlen(text) != MSD_KEY_ID_TEXT - 1)
		return false;
	for (size_t i = 0; i < MSD_KEY_ID_BYTES; i++) {
		const char pair[3] = {text[2 * i], text[2 * i + 1], '\0'};

		ret->b[MSD_KEY_ID_BYTES - 1 - i] = (uint8_t)strtoul(pair, NULL, 16);
	}
	msd_key_id_format(ret, again);
	return strcmp(text, again) == 0;
}

static msd_err read_line(struct msd_minimum_versions *f, char *line, struct msd_diag *d)
{
	char *rest = line;
	const char *name = cut_word(&rest);
	const char *second = cut_word(&rest);
	const struct msd_span span = msd_span_of(name);
	struct msd_key_id id;
	uint64_t version;

	if (strcmp(name, "newest") == 0 && *rest == '\0' &&
	    read_number(second, &f->newest_s))
		return MSD_OK;
	if (!msd_name_valid(span) || !read_id(second, &id) ||
	    !read_number(rest, &version)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "expected a module, a key and a version");
	}
	return msd_minimum_versions_raise(f, name, &id, version, d);
}

/* @text is NUL-terminated. */
static msd_err parse(struct msd_minimum_versions *f, char *text, struct msd_diag *d)
{
	unsigned n = 0;

	while (*text != '\0') {
		char *end = strchr(text, '\n');
		msd_err err = MSD_OK;

		n++;
		if (end != NULL)
			*end = '\0';
		if (end == NULL || (n == 1 && strcmp(text, HEAD) != 0)) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    FILE_NAME ": line %u: expected \"%s\"", n,
					    HEAD);
		}
		if (n > 1)
			err = read_line(f, text, d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, FILE_NAME ": line %u", n);
		text = end + 1;
	}
	return n > 0 ? MSD_OK
		     : msd_diag_set(d, MSD_BAD_ARTIFACT, FILE_NAME ": it is empty");
}

msd_err msd_minimum_versions_load(const struct msd_store *s,
				  struct msd_minimum_versions *ret, struct msd_diag *d)
{
	struct msd_buf text = {0};
	msd_err err = msd_folder_read(s->dir, FILE_NAME, TEXT_BYTES, &text, d);

	*ret = (struct msd_minimum_versions){0};
	if (err == MSD_NOT_FOUND) {
		msd_diag_finish(d);
		return MSD_OK;
	}
	if (err == MSD_OK) {
		const bool has_nul = text.n > 0 && memchr(text.p, 0, text.n) != NULL;

		msd_buf_put_u8(&text, 0);
		if (text.bad) {
			err = msd_diag_no_memory(d);
		} else if (has_nul) {
			err = msd_diag_set(d, MSD_BAD_ARTIFACT,
					   FILE_NAME ": it is no text");
		} else {
			err = parse(ret, (char *)text.p, d);
		}
	}
	msd_buf_finish(&text);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", s->path);
}

msd_err msd_minimum_versions_save(struct msd_store *s,
				  const struct msd_minimum_versions *f,
				  struct msd_diag *d)
{
	struct msd_buf text = {0};
	msd_err err;

	msd_buf_printf(&text, HEAD "\nnewest %" PRIu64 "\n", f->newest_s);
	for (uint32_t i = 0; i < f->n; i++) {
		char id[MSD_KEY_ID_TEXT];

		msd_key_id_format(&f->rows[i].id, id);
		msd_buf_printf(&text, "%s %s %" PRIu64 "\n", f->rows[i].name, id,
			       f->rows[i].version);
	}
	err = text.bad ? msd_diag_no_memory(d)
		       : msd_folder_replace(s->dir, FILE_NAME,
					    (struct msd_span){text.p, text.n}, d);
	msd_buf_finish(&text);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", s->path);
}

void msd_minimum_versions_finish(struct msd_minimum_versions *f)
{
	free(f->rows);
	*f = (struct msd_minimum_versions){0};
}
