/*
 * Fields and files of unpacked modules: the steps that kinds share, in both
 * directions, and the kinds that are only a list of fields. The split treats text
 * that is not UTF-8 as damage: JSON cannot represent it, so the payload stays whole.
 */

#include "artifact/kind/fields.h"
#include "pack/pieces.h"
#include "pack/pieces_private.h"

msd_err msd_split_damaged(struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "it cannot be taken apart");
}

msd_err msd_split_set(struct msd_splitter *s, const char *key, json_t *value,
		      struct msd_diag *d)
{
	return json_object_set_new(s->entry, key, value) == 0 ? MSD_OK
							      : msd_diag_no_memory(d);
}

/* NULL also for text that is not UTF-8: the payload then stays whole. */
static json_t *text_of(struct msd_span text)
{
	return json_stringn(text.n > 0 ? (const char *)text.p : "", text.n);
}

msd_err msd_split_text(struct msd_splitter *s, const char *key, struct msd_span text,
		       struct msd_diag *d)
{
	json_t *value = text_of(text);

	return value != NULL ? msd_split_set(s, key, value, d) : msd_split_damaged(d);
}

msd_err msd_split_names(struct msd_splitter *s, const char *key, struct msd_cur *c,
			struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	json_t *names = json_array();

	for (size_t i = 0; i < n && !c->bad; i++) {
		if (json_array_append_new(names, text_of(msd_cur_str64(c))) == 0)
			continue;
		json_decref(names);
		return msd_split_damaged(d);
	}
	msd_err err = msd_split_set(s, key, names, d);
	return err == MSD_OK && c->bad ? msd_split_damaged(d) : err;
}

static msd_err name_last(struct msd_splitter *s, const char *key, struct msd_diag *d)
{
	return msd_split_set(s, key, json_string(s->files->piece[s->files->n - 1].name),
			     d);
}

msd_err msd_split_file(struct msd_splitter *s, const char *key, const char *suffix,
		       struct msd_span bytes, struct msd_diag *d)
{
	msd_err err = msd_pieces_add(s->files, s->stem, suffix, bytes, d);

	return err == MSD_OK ? name_last(s, key, d) : err;
}

msd_err msd_split_made(struct msd_splitter *s, const char *key, const char *suffix,
		       struct msd_buf *bytes, struct msd_diag *d)
{
	msd_err err = msd_pieces_take(s->files, s->stem, suffix, bytes, d);

	return err == MSD_OK ? name_last(s, key, d) : err;
}

static msd_err missing(const char *key, const char *what, struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "\"%s\" is missing or is not %s", key,
			    what);
}

msd_err msd_join_text(const struct msd_joiner *j, const char *key, struct msd_buf *out,
		      struct msd_diag *d)
{
	const json_t *text = json_object_get(j->entry, key);

	if (!json_is_string(text))
		return missing(key, "a string", d);
	msd_buf_put_str64(out, json_string_value(text), json_string_length(text));
	return MSD_OK;
}

msd_err msd_join_array(const json_t *names, const char *key, struct msd_buf *out,
		       struct msd_diag *d)
{
	size_t n = json_array_size(names);

	if (names != NULL && !json_is_array(names))
		return missing(key, "a list of names", d);
	msd_buf_put_u64(out, n);
	for (size_t i = 0; i < n; i++) {
		const json_t *name = json_array_get(names, i);

		if (!json_is_string(name))
			return missing(key, "a list of names", d);
		msd_buf_put_str64(out, json_string_value(name),
				  json_string_length(name));
	}
	return MSD_OK;
}

msd_err msd_join_names(const struct msd_joiner *j, const char *key, struct msd_buf *out,
		       struct msd_diag *d)
{
	return msd_join_array(json_object_get(j->entry, key), key, out, d);
}

msd_err msd_join_read(const struct msd_joiner *j, const char *key, struct msd_buf *ret,
		      struct msd_diag *d)
{
	const char *name = json_string_value(json_object_get(j->entry, key));

	if (name == NULL)
		return missing(key, "the name of a file", d);
	msd_err err = j->source->read(j->source->ctx, name, ret, d);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s", key);
}

msd_err msd_join_file(const struct msd_joiner *j, const char *key, struct msd_buf *out,
		      struct msd_diag *d)
{
	struct msd_buf file = {0};
	msd_err err = msd_join_read(j, key, &file, d);

	if (err == MSD_OK)
		msd_buf_put_str64(out, file.p, file.n);
	msd_buf_finish(&file);
	return err;
}

msd_err msd_split_fields(struct msd_splitter *s, const struct msd_kind_field *fields,
			 struct msd_cur *c, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (; fields->key != NULL && err == MSD_OK; fields++) {
		if (fields->form == MSD_FIELD_NAMES) {
			err = msd_split_names(s, fields->key, c, d);
			continue;
		}
		struct msd_span bytes = msd_cur_str64(c);
		if (c->bad)
			return msd_split_damaged(d);
		err = fields->form == MSD_FIELD_FILE
			      ? msd_split_file(s, fields->key, fields->suffix, bytes, d)
			      : msd_split_text(s, fields->key, bytes, d);
	}
	return err;
}

msd_err msd_join_fields(const struct msd_joiner *j, const struct msd_kind_field *fields,
			struct msd_buf *out, struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (; fields->key != NULL && err == MSD_OK; fields++) {
		if (fields->form == MSD_FIELD_NAMES) {
			err = msd_join_names(j, fields->key, out, d);
		} else {
			err = fields->form == MSD_FIELD_FILE
				      ? msd_join_file(j, fields->key, out, d)
				      : msd_join_text(j, fields->key, out, d);
		}
	}
	return err;
}
