/* The lifetime of option values, and how options are written. */
#include "daemon/supervisor/config/options.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/config/preload.h"
#include "proto/base/grow.h"

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
	char *copy = strdup(text);

	if (copy == NULL || !msd_grow(&o->texts, o->n_texts, sizeof(copy))) {
		free(copy);
		return NULL;
	}
	return o->texts[o->n_texts++] = copy;
}

struct msd_preload *msd_options_add_preload(struct msd_options *o)
{
	if (!msd_grow(&o->preloads, o->n_preloads, sizeof(*o->preloads)))
		return NULL;
	o->preloads[o->n_preloads] = (struct msd_preload){0};
	return &o->preloads[o->n_preloads++];
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
