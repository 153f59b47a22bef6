/*
 * Describe a payload: the kind's reader parses it, fills an info, and must consume it
 * completely. An error becomes one more fact, so a damaged module is shown with
 * everything read before the damage.
 */
#include "artifact/kind/payload.h"

#include <stdlib.h>

#include "artifact/kind/fields.h"
#include "artifact/kind/kinds.h"
#include "artifact/kind/private.h"

#define FIELDS(name) NULL, msd_fields_##name
#define PARTS(name) msd_payload_##name, NULL
#define WHOLE(name) msd_payload_##name, NULL
#define PARAMS(name) true
#define NONE false
#define ROW(kind, title, format, look, params, run) {kind, title, format, params, NULL},
static const struct msd_payload_kind kinds[] = {MSD_KIND_MAP(ROW)};

/* Kinds of plugins; the list only grows, at its head. */
static struct added {
	struct msd_payload_kind kind;
	struct added *next;
} * added;

/* Only the framed layout says where the payload ends. */
static msd_err read_rest(struct msd_cur *c, enum msd_era era,
			 struct msd_payload_info *info, struct msd_diag *d)
{
	(void)info;
	if (era != MSD_ERA_FFI) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "its plugin cannot measure payloads, whose ends "
				    "this library does not store");
	}
	(void)msd_cur_read(c, c->left);
	return MSD_OK;
}

const struct msd_payload_kind *msd_payload_kind_find(struct msd_span kind)
{
	for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		if (msd_span_is(kind, kinds[i].kind))
			return &kinds[i];
	}
	for (const struct added *a = added; a != NULL; a = a->next) {
		if (msd_span_is(kind, a->kind.kind))
			return &a->kind;
	}
	return NULL;
}

bool msd_payload_kind_add(const char *kind, int64_t (*measure)(const void *p, size_t n))
{
	struct added *mine;

	if (msd_payload_kind_find(msd_span_of(kind)) != NULL)
		return true; /* a known kind that this build does not run */
	mine = malloc(sizeof(*mine));
	if (mine == NULL)
		return false;
	*mine = (struct added){.kind = {.kind = kind,
					.title = "a kind of a plugin",
					.read = read_rest,
					.measure = measure},
			       .next = added};
	added = mine;
	return true;
}

static msd_err read_measured(const struct msd_payload_kind *kind, struct msd_cur *c,
			     struct msd_diag *d)
{
	const int64_t n = kind->measure(c->p, c->left);

	if (n < 0 || (uint64_t)n > c->left) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "its plugin does not find the end of the payload");
	}
	(void)msd_cur_read(c, (size_t)n);
	return MSD_OK;
}

msd_err msd_payload_read(const struct msd_payload_kind *kind, struct msd_cur *c,
			 enum msd_era era, struct msd_payload_info *info,
			 struct msd_diag *d)
{
	if (kind->measure != NULL && era != MSD_ERA_FFI)
		return read_measured(kind, c, d);
	return kind->fields != NULL ? msd_fields_read(kind->fields, c, info, d)
				    : kind->read(c, era, info, d);
}

/* Report a damaged payload as a fact instead of failing. */
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
		if (err == MSD_OK && !msd_cur_end(&c)) {
			err = msd_diag_set(&why, MSD_BAD_ARTIFACT,
					   "%zu bytes are left after the payload",
					   c.left);
		}
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
