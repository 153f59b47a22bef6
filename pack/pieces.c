/*
 * Convert a payload to files and fields, and back. After splitting by the kind's row,
 * the pieces are joined again at once. If the bytes differ, the module becomes one
 * file, as for an unknown kind or a damaged payload. So every unpacked module can be
 * packed again.
 */
#include "pack/pieces.h"

#include <stdio.h>
#include <string.h>

#include "artifact/kind/fields.h"
#include "artifact/kind/kinds.h"
#include "pack/pieces_private.h"

#define KEY_OPAQUE "payload" /* the whole payload in one file */

#define FIELDS(name) msd_fields_##name, NULL, NULL
#define PARTS(name) NULL, msd_split_##name, msd_join_##name
#define WHOLE(name) NULL, NULL, NULL
#define ROW(kind, title, format, look, params, run) {kind, format},
static const struct msd_piece_format formats[] = {MSD_KIND_MAP(ROW)};

/* NULL also for kinds that stay whole. */
static const struct msd_piece_format *find_format(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(formats) / sizeof(*formats); i++) {
		const struct msd_piece_format *f = &formats[i];

		if (msd_span_is(kind, f->kind))
			return f->fields != NULL || f->split != NULL ? f : NULL;
	}
	return NULL;
}

/* Use the new files as a source. */
static msd_err read_piece(void *ctx, const char *name, struct msd_buf *ret,
			  struct msd_diag *d)
{
	const struct msd_pieces *pieces = ctx;

	for (size_t i = 0; i < pieces->n; i++) {
		const struct msd_piece *one = &pieces->piece[i];

		if (strcmp(one->name, name) != 0)
			continue;
		msd_buf_put(ret, one->bytes.p, one->bytes.n);
		return ret->bad ? msd_diag_no_memory(d) : MSD_OK;
	}
	return msd_diag_set(d, MSD_NOT_FOUND, "%s: no such file", name);
}

/* MSD_BAD_ARTIFACT unless the pieces give the same payload. */
static msd_err check_pieces(const struct msd_splitter *s, struct msd_span kind,
			    struct msd_span payload, struct msd_diag *d)
{
	struct msd_piece_source source = {read_piece, s->files};
	struct msd_buf again = {0};
	msd_err err = msd_payload_join(kind, s->entry, s->era, &source, &again, d);

	if (err == MSD_OK &&
	    (again.n != payload.n ||
	     (payload.n > 0 && memcmp(again.p, payload.p, payload.n) != 0)))
		err = MSD_BAD_ARTIFACT;
	msd_buf_finish(&again);
	return err;
}

static msd_err split_opaque(struct msd_splitter *s, struct msd_span payload,
			    struct msd_diag *d)
{
	if (payload.n == 0) /* present, but empty */
		return msd_split_set(s, KEY_OPAQUE, json_null(), d);
	return msd_split_file(s, KEY_OPAQUE, ".bin", payload, d);
}

msd_err msd_payload_split(struct msd_span kind, struct msd_span payload,
			  enum msd_era era, const char *stem, json_t *entry,
			  struct msd_pieces *files, struct msd_diag *d)
{
	const struct msd_piece_format *format = find_format(kind);
	size_t n_before = files->n;
	struct msd_splitter s = {
		.era = era, .stem = stem, .entry = json_object(), .files = files};
	struct msd_cur c = msd_cur_of(payload);
	struct msd_diag why = {0}; /* ignored: the payload stays whole */
	msd_err err = MSD_BAD_ARTIFACT;

	if (s.entry == NULL)
		return msd_diag_no_memory(d);
	if (format != NULL) {
		err = format->fields != NULL
			      ? msd_split_fields(&s, format->fields, &c, &why)
			      : format->split(&s, &c, &why);
		if (err == MSD_OK) {
			err = msd_cur_end(&c) ? check_pieces(&s, kind, payload, &why)
					      : MSD_BAD_ARTIFACT;
		}
	}
	msd_diag_finish(&why);
	if (err != MSD_OK && err != MSD_NOMEM) {
		msd_pieces_cut(files, n_before);
		(void)json_object_clear(s.entry);
		err = split_opaque(&s, payload, d);
	}
	if (err == MSD_NOMEM ||
	    (err == MSD_OK && json_object_update(entry, s.entry) != 0))
		err = msd_diag_no_memory(d);
	json_decref(s.entry);
	return err;
}

static msd_err join_opaque(const struct msd_joiner *j, struct msd_buf *out,
			   struct msd_diag *d)
{
	struct msd_buf file = {0};

	if (json_is_null(json_object_get(j->entry, KEY_OPAQUE)))
		return MSD_OK;
	msd_err err = msd_join_read(j, KEY_OPAQUE, &file, d);

	if (err == MSD_OK)
		msd_buf_put(out, file.p, file.n);
	msd_buf_finish(&file);
	return err;
}

msd_err msd_payload_join(struct msd_span kind, const json_t *entry, enum msd_era era,
			 const struct msd_piece_source *source, struct msd_buf *out,
			 struct msd_diag *d)
{
	const struct msd_piece_format *format = find_format(kind);
	struct msd_joiner j = {.era = era, .entry = entry, .source = source};
	msd_err err = MSD_OK;

	if (json_object_get(entry, KEY_OPAQUE) != NULL) {
		err = join_opaque(&j, out, d);
	} else if (format != NULL) {
		err = format->fields != NULL
			      ? msd_join_fields(&j, format->fields, out, d)
			      : format->join(&j, out, d);
	} else {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT,
				   "an unknown kind: its \"payload\" must be the name "
				   "of a file, or null");
	}
	if (err == MSD_OK && out->bad)
		err = msd_diag_no_memory(d);
	return err;
}
