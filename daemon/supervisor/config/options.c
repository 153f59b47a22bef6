/* The lifetime of option values, and how options are written. */
#include "daemon/supervisor/config/options.h"

#include <stdlib.h>
#include <string.h>

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
