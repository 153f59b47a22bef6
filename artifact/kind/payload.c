/*
 * What is told of a payload: the kind's reader takes it apart with an info to fill, and
 * must use it up. What goes wrong on the way is one more fact, so a module that is
 * damaged is shown with what could be read before the damage.
 */
#include "artifact/kind/payload.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/fields.h"
#include "artifact/kind/kinds.h"
#include "artifact/kind/private.h"
#include "artifact/printable.h"

#define FIELDS(name) NULL, msd_fields_##name
#define PARTS(name) msd_payload_##name, NULL
#define WHOLE(name) msd_payload_##name, NULL
#define PARAMS(name) true
#define NONE false
#define ROW(kind, title, format, look, params, run) {kind, title, format, params},
static const struct msd_payload_kind kinds[] = {MSD_KIND_MAP(ROW)};

const struct msd_payload_kind *msd_payload_kind_find(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (msd_span_is(kind, kinds[i].kind))
			return &kinds[i];
	}
	return NULL;
}

msd_err msd_payload_read(const struct msd_payload_kind *kind, struct msd_cur *c,
			 enum msd_era era, struct msd_payload_info *info,
			 struct msd_diag *d)
{
	return kind->fields != NULL ? msd_fields_read(kind->fields, c, info, d)
				    : kind->read(c, era, info, d);
}

/* A damaged payload is something to say about a module, not a reason to say nothing. */
static msd_err say_damage(struct msd_payload_info *info, msd_err err,
			  const struct msd_diag *why, struct msd_diag *d)
{
	const char *key = err == MSD_UNSUPPORTED ? "unsupported" : "damaged";

	if (err == MSD_NOMEM ||
	    !msd_payload_info_add(info, key, "%s", msd_diag_text(why)))
		return msd_diag_no_memory(d);
	return MSD_OK;
}

msd_err msd_payload_describe(struct msd_span kind, struct msd_span payload,
			     enum msd_era era, struct msd_payload_info *ret,
			     struct msd_diag *d)
{
	const struct msd_payload_kind *row = msd_payload_kind_find(kind);
	struct msd_payload_info info = {0};
	struct msd_cur c = msd_cur_of(payload);
	struct msd_diag why = {0};
	msd_err err = MSD_OK;

	if (row != NULL) {
		err = msd_payload_read(row, &c, era, &info, &why);
		if (err == MSD_OK && !msd_cur_end(&c))
			err = msd_diag_set(&why, MSD_BAD_ARTIFACT,
					   "%zu bytes are left after the payload",
					   c.left);
		if (err != MSD_OK)
			err = say_damage(&info, err, &why, d);
	}
	msd_diag_finish(&why);
	if (err != MSD_OK) {
		msd_payload_info_finish(&info);
		return err;
	}
	*ret = info;
	return MSD_OK;
}

/* Take ownership of @text's bytes as a fact's value; @text is finished either way. */
static bool take_fact(struct msd_payload_info *info, const char *key,
		      struct msd_buf *text)
{
	struct msd_payload_fact *grown;
	char *copy = strdup(key);

	msd_buf_put_u8(text, '\0');
	grown = realloc(info->facts, (info->n_facts + 1) * sizeof(*grown));
	if (grown != NULL)
		info->facts = grown;
	if (copy == NULL || grown == NULL || text->bad) {
		free(copy);
		msd_buf_finish(text);
		return false;
	}
	info->facts[info->n_facts++] =
		(struct msd_payload_fact){.key = copy, .value = (char *)text->p};
	return true;
}

bool msd_payload_info_add_bytes(struct msd_payload_info *info, const char *key,
				struct msd_span value)
{
	struct msd_buf text = {0};

	msd_printable_put(&text, value);
	return take_fact(info, key, &text);
}

bool msd_payload_info_add(struct msd_payload_info *info, const char *key,
			  const char *fmt, ...)
{
	char *raw = NULL;
	va_list ap;

	va_start(ap, fmt);
	int n = vasprintf(&raw, fmt, ap);
	va_end(ap);
	if (n < 0)
		return false;
	bool ok = msd_payload_info_add_bytes(
		info, key, (struct msd_span){(uint8_t *)raw, (size_t)n});
	free(raw);
	return ok;
}

bool msd_payload_info_offer(struct msd_payload_info *info, struct msd_span name)
{
	char *text = msd_printable_copy(name);
	char **grown = realloc(info->offers, (info->n_offers + 1) * sizeof(*grown));
	if (grown != NULL)
		info->offers = grown;
	if (grown == NULL || text == NULL) {
		free(text);
		return false;
	}
	info->offers[info->n_offers++] = text;
	return true;
}

void msd_payload_info_finish(struct msd_payload_info *info)
{
	if (info == NULL)
		return;
	for (size_t i = 0; i < info->n_facts; i++) {
		free(info->facts[i].key);
		free(info->facts[i].value);
	}
	free(info->facts);
	for (size_t i = 0; i < info->n_offers; i++)
		free(info->offers[i]);
	free(info->offers);
	*info = (struct msd_payload_info){0};
}
