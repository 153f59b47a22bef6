#include "daemon/supervisor/config/changes.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/options.h"
#include "daemon/supervisor/config/preload.h"
#include "proto/base/bytes.h"
#include "proto/base/grow.h"

/* The text in @b; empties @b. Returns NULL if out of memory. */
static char *text_of(struct msd_buf *b)
{
	msd_buf_put(b, "", 1);
	if (b->bad) {
		msd_buf_finish(b);
		return NULL;
	}
	return (char *)b->p;
}

static char *option_text(const struct msd_options *o, const struct msd_option *row)
{
	struct msd_buf b = {0};

	row->write(o, row, &b);
	return text_of(&b);
}

static char *module_text(const struct msd_preload *p)
{
	struct msd_buf b = {0};

	if (p != NULL)
		msd_preload_write(p, &b);
	return text_of(&b);
}

/* Append @c if its two texts differ or is_again is set; free its texts otherwise. */
static msd_err add(struct msd_changes *all, struct msd_change c, struct msd_diag *d)
{
	const bool is_known = c.was != NULL && c.is != NULL;
	const bool is_one = is_known && (c.is_again || strcmp(c.was, c.is) != 0);

	if (is_one && msd_grow(&all->each, all->n, sizeof(c))) {
		all->each[all->n++] = c;
		return MSD_OK;
	}
	free(c.was);
	free(c.is);
	return is_known && !is_one ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err compare_modules(const struct msd_options *now,
			       const struct msd_options *next, struct msd_changes *ret,
			       struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < next->n_preloads && err == MSD_OK; i++) {
		const struct msd_preload *p = &next->preloads[i];
		const struct msd_preload *old = msd_options_preload(now, p->name);

		if (msd_options_preload(next, p->name) != p)
			continue; /* a later module has the same name */
		err = add(ret,
			  (struct msd_change){.old = old,
					      .module = p,
					      .was = module_text(old),
					      .is = module_text(p)},
			  d);
	}
	for (uint32_t i = 0; i < now->n_preloads && err == MSD_OK; i++) {
		const struct msd_preload *p = &now->preloads[i];

		if (msd_options_preload(now, p->name) != p ||
		    msd_options_preload(next, p->name) != NULL)
			continue;
		err = add(ret,
			  (struct msd_change){.old = p,
					      .was = module_text(p),
					      .is = module_text(NULL)},
			  d);
	}
	return err;
}

static bool has(const struct msd_changes *all, const struct msd_preload *module)
{
	for (uint32_t i = 0; i < all->n; i++) {
		if (all->each[i].module == module)
			return true;
	}
	return false;
}

msd_err msd_changes_find_undone(const struct msd_options *now,
				const struct msd_options *next,
				bool (*is_undone)(const void *ctx, const char *name),
				const void *ctx, struct msd_changes *ret,
				struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (uint32_t i = 0; i < next->n_preloads && err == MSD_OK; i++) {
		const struct msd_preload *p = &next->preloads[i];

		if (msd_options_preload(next, p->name) != p || has(ret, p) ||
		    !is_undone(ctx, p->name))
			continue;
		err = add(ret,
			  (struct msd_change){.old = msd_options_preload(now, p->name),
					      .module = p,
					      .is_again = true,
					      .was = module_text(p),
					      .is = module_text(p)},
			  d);
	}
	return err;
}

msd_err msd_changes_find(const struct msd_options *started,
			 const struct msd_options *now, const struct msd_options *next,
			 struct msd_changes *ret, struct msd_diag *d)
{
	const struct msd_option *row;
	msd_err err = MSD_OK;

	*ret = (struct msd_changes){0};
	for (unsigned i = 0; (row = msd_option_row(i)) != NULL && err == MSD_OK; i++) {
		const bool waits = row->when == MSD_OPTION_RESTART;

		if (row->write == NULL)
			continue;
		err = add(ret,
			  (struct msd_change){
				  .row = row,
				  .waits = waits,
				  .was = option_text(waits ? started : now, row),
				  .is = option_text(next, row)},
			  d);
	}
	return err == MSD_OK ? compare_modules(now, next, ret, d) : err;
}

void msd_changes_finish(struct msd_changes *c)
{
	for (uint32_t i = 0; i < c->n; i++) {
		free(c->each[i].was);
		free(c->each[i].is);
	}
	free(c->each);
	*c = (struct msd_changes){0};
}

const char *msd_change_key(const struct msd_change *c)
{
	return c->row != NULL ? c->row->name : "module";
}

const char *msd_change_name(const struct msd_change *c)
{
	const struct msd_preload *p = c->module != NULL ? c->module : c->old;

	return p != NULL ? p->name : NULL;
}
