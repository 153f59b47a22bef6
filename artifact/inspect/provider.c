/* Find the providers of an artifact's requirements. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/inspect/inspect.h"
#include "artifact/provides/provides.h"

msd_err msd_inspect_resolve(struct msd_inspect *i,
			    const char *(*find)(void *ctx, const char *symbol),
			    void *ctx, struct msd_diag *d)
{
	for (size_t k = 0; k < i->n_undefined; k++) {
		const char *who =
			i->providers[k] == NULL ? find(ctx, i->undefined[k]) : NULL;

		if (who == NULL)
			continue;
		i->providers[k] = strdup(who);
		if (i->providers[k] == NULL)
			return msd_diag_no_memory(d);
	}
	i->is_resolved = true;
	return MSD_OK;
}

static int compare(const void *key, const void *item)
{
	return strcmp(key, *(char *const *)item);
}

static bool offers(const struct msd_payload_info *info, const char *name)
{
	for (size_t i = 0; i < info->n_offers; i++) {
		if (strcmp(info->offers[i], name) == 0)
			return true;
	}
	return false;
}

const char *msd_inspect_provider(const struct msd_inspect *i, const char *name,
				 char buf[static MSD_PROVIDER_MAX])
{
	if (i->n_functions > 0 && bsearch(name, i->functions, i->n_functions,
					  sizeof(*i->functions), compare) != NULL)
		return "this library";
	for (uint32_t k = 0; k < i->n_modules; k++) {
		if (!offers(&i->modules[k].info, name))
			continue;
		(void)snprintf(buf, MSD_PROVIDER_MAX, "module %" PRIu32 " (%.64s)", k,
			       i->modules[k].kind);
		return buf;
	}
	return msd_provides_name(MSD_PROVIDED_PACKED, name) ? "modserd" : NULL;
}
