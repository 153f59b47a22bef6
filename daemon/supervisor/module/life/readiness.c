#include "daemon/supervisor/module/life/readiness.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/life/catalog.h"

msd_err msd_readiness_record(struct msd_module_registry *registry, struct msd_diag *d)
{
	if (registry->n_modules == 0)
		return MSD_OK;
	registry->expected = calloc(registry->n_modules, sizeof(*registry->expected));
	if (registry->expected == NULL)
		return msd_diag_no_memory(d);
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		char *name = strdup(m->group.name);
		if (name == NULL)
			return msd_diag_no_memory(d);
		registry->expected[registry->n_expected++] = name;
	}
	return MSD_OK;
}

bool msd_readiness_serves(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_READY || m->life.state == MSD_STATE_ASLEEP;
}

const struct msd_module *msd_readiness_find(struct msd_module_registry *registry,
					    const char *name)
{
	struct msd_module *m;

	return msd_module_require(registry, msd_span_of(name), &m, NULL) == MSD_OK &&
			       msd_readiness_serves(m)
		       ? m
		       : NULL;
}

uint32_t msd_readiness_count_ready(struct msd_module_registry *registry)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < registry->n_expected; i++) {
		n += msd_readiness_find(registry, registry->expected[i]) != NULL ? 1
										 : 0;
	}
	return n;
}

bool msd_readiness_all_ready(struct msd_module_registry *registry)
{
	return !registry->is_leaving &&
	       msd_readiness_count_ready(registry) == registry->n_expected;
}

void msd_readiness_finish(struct msd_module_registry *registry)
{
	for (uint32_t i = 0; i < registry->n_expected; i++)
		free(registry->expected[i]);
	free(registry->expected);
	registry->expected = NULL;
	registry->n_expected = 0;
}
