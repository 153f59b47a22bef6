#include "store/record.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "proto/base/grow.h"
#include "proto/name.h"
#include "store/folder.h"

/* Happy path: a record is read completely, changed in memory by its owner, and
 * replaced completely. Failures: the old record remains. */

msd_err msd_record_load(const struct msd_store *s, const char *name,
			struct msd_record *ret, struct msd_diag *d)
{
	struct msd_buf text = {0};
	struct msd_span valid = msd_span_of(name);

	if (!msd_name_valid(valid)) {
		return msd_diag_set(d, MSD_NOT_FOUND, "modules/%s: no module's name",
				    name);
	}
	msd_err err = msd_folder_read(s->modules, name, MSD_RECORD_BYTES, &text, d);
	if (err == MSD_OK) {
		err = msd_record_parse((struct msd_span){text.p, text.n}, ret, d);
		msd_buf_finish(&text);
	}
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s: modules", s->path);
}

msd_err msd_record_save(struct msd_store *s, const char *name,
			const struct msd_record *r, struct msd_diag *d)
{
	struct msd_buf text = {0};
	struct msd_span valid = msd_span_of(name);

	if (!msd_name_valid(valid))
		return msd_diag_set(d, MSD_BAD_REQUEST, "%s: no module's name", name);
	msd_record_write(r, &text);
	msd_err err =
		text.bad ? msd_diag_no_memory(d)
			 : msd_folder_replace(s->modules, name,
					      (struct msd_span){text.p, text.n}, d);
	msd_buf_finish(&text);
	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s: modules", s->path);
}

msd_err msd_record_remove(struct msd_store *s, const char *name, struct msd_diag *d)
{
	msd_err err = unlinkat(s->modules, name, 0) == 0
			      ? msd_folder_sync(s->modules, name, d)
			      : msd_folder_fault(name, "unlink", d);

	return err == MSD_OK ? MSD_OK : msd_diag_wrap(d, err, "%s: modules", s->path);
}

/* Collects all names, to sort them. */
struct names {
	char **p; /* owned, as is each name */
	size_t n;
};

static msd_err keep_name(void *ctx, const char *name, struct msd_diag *d)
{
	struct names *names = ctx;
	struct msd_span valid = msd_span_of(name);

	if (!msd_name_valid(valid))
		return MSD_OK;
	if (!msd_grow(&names->p, names->n, sizeof(*names->p)))
		return msd_diag_no_memory(d);
	names->p[names->n] = strdup(name);
	if (names->p[names->n] == NULL)
		return msd_diag_no_memory(d);
	names->n++;
	return MSD_OK;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

msd_err msd_record_each(const struct msd_store *s,
			msd_err (*each)(void *ctx, const char *name,
					struct msd_diag *d),
			void *ctx, struct msd_diag *d)
{
	struct names names = {0};
	msd_err err = msd_folder_each(s->modules, "modules", keep_name, &names, d);

	if (names.n > 0)
		qsort(names.p, names.n, sizeof(*names.p), by_name);
	for (size_t i = 0; err == MSD_OK && i < names.n; i++) {
		err = each(ctx, names.p[i], d);
		if (err == MSD_NOT_FOUND) {
			msd_diag_finish(d);
			err = MSD_OK;
		}
	}
	for (size_t i = 0; i < names.n; i++)
		free(names.p[i]);
	free(names.p);
	return err;
}
