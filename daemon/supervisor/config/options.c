/* The lifetime of option values, and how options are written. */
#include "daemon/supervisor/config/options.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/option_rows.h"
#include "daemon/supervisor/config/preload.h"

void msd_options_finish(struct msd_options *o)
{
	for (uint32_t i = 0; i < o->n_preloads; i++)
		msd_preload_finish(&o->preloads[i]);
	free(o->preloads);
	for (uint32_t i = 0; i < o->n_texts; i++)
		free(o->texts[i]);
	free(o->texts);
	*o = (struct msd_options){0};
}

const char *msd_options_keep(struct msd_options *o, const char *text)
{
	char **more = realloc(o->texts, (o->n_texts + 1) * sizeof(*more));

	if (more == NULL)
		return NULL;
	o->texts = more;
	more[o->n_texts] = strdup(text);
	return more[o->n_texts] != NULL ? more[o->n_texts++] : NULL;
}

struct msd_preload *msd_options_add_preload(struct msd_options *o)
{
	struct msd_preload *more =
		realloc(o->preloads, (o->n_preloads + 1) * sizeof(*more));

	if (more == NULL)
		return NULL;
	o->preloads = more;
	more[o->n_preloads] = (struct msd_preload){0};
	return &more[o->n_preloads++];
}

struct msd_preload *msd_options_preload(const struct msd_options *o, const char *name)
{
	for (uint32_t i = o->n_preloads; i > 0; i--) {
		if (o->preloads[i - 1].name != NULL &&
		    strcmp(o->preloads[i - 1].name, name) == 0)
			return &o->preloads[i - 1];
	}
	return NULL;
}

static void write_row(const struct msd_options *o, unsigned i,
		      const struct msd_option *row, struct msd_buf *ret)
{
	struct msd_buf value = {0};

	row->write(o, row, &value);
	if (value.n > 0) {
		msd_buf_printf(ret, "%s = %.*s  # %s\n", row->name, (int)value.n,
			       (const char *)value.p,
			       o->origins[i] != NULL ? o->origins[i] : "default");
	}
	ret->bad = ret->bad || value.bad;
	msd_buf_finish(&value);
}

void msd_options_write(const struct msd_options *o, struct msd_buf *ret)
{
	const struct msd_option *row;

	for (unsigned i = 0; (row = msd_option_row(i)) != NULL; i++) {
		if (row->write != NULL)
			write_row(o, i, row, ret);
	}
	for (uint32_t i = 0; i < o->n_preloads; i++) {
		const struct msd_preload *p = &o->preloads[i];

		if (msd_options_preload(o, p->name) != p)
			continue; /* a later module has the same name */
		msd_preload_write(p, ret);
		msd_buf_printf(ret, "  # %s\n", p->origin);
	}
}
