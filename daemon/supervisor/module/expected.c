#include "daemon/supervisor/module/expected.h"

#include <stdlib.h>
#include <string.h>

#include "daemon/supervisor/module/catalog.h"

msd_err msd_expected_take(struct msd_house *house, struct msd_diag *d)
{
	if (house->n_modules == 0)
		return MSD_OK;
	house->expected = calloc(house->n_modules, sizeof(*house->expected));
	if (house->expected == NULL)
		return msd_diag_no_memory(d);
	MSD_LIST_EACH (it, &house->modules) {
		const struct msd_module *m =
			MSD_CONTAINER_OF(it, struct msd_module, link);
		char *name = strdup(m->crew.name);
		if (name == NULL)
			return msd_diag_no_memory(d);
		house->expected[house->n_expected++] = name;
	}
	return MSD_OK;
}

bool msd_expected_serves(const struct msd_module *m)
{
	return m->life.state == MSD_STATE_READY || m->life.state == MSD_STATE_ASLEEP;
}

const struct msd_module *msd_expected_find(struct msd_house *house, const char *name)
{
	struct msd_module *m;

	return msd_module_require(house, msd_span_of(name), &m, NULL) == MSD_OK &&
			       msd_expected_serves(m)
		       ? m
		       : NULL;
}

uint32_t msd_expected_count_ready(struct msd_house *house)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < house->n_expected; i++)
		n += msd_expected_find(house, house->expected[i]) != NULL ? 1 : 0;
	return n;
}

bool msd_expected_all_ready(struct msd_house *house)
{
	return !house->is_leaving &&
	       msd_expected_count_ready(house) == house->n_expected;
}

void msd_expected_finish(struct msd_house *house)
{
	for (uint32_t i = 0; i < house->n_expected; i++)
		free(house->expected[i]);
	free(house->expected);
	house->expected = NULL;
	house->n_expected = 0;
}
