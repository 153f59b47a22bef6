#include "daemon/supervisor/module/directs.h"

#include "daemon/supervisor/module/direct.h"
#include "daemon/supervisor/module/module.h"
#include "daemon/supervisor/module/replica.h"

#define HOLD_OFF_MS 10000u /* after the last who wanted to see single calls */

void msd_directs_end(struct msd_house *house)
{
	MSD_LIST_EACH (it, &house->modules) {
		msd_direct_end_crew(
			&MSD_CONTAINER_OF(it, struct msd_module, link)->crew);
	}
}

void msd_directs_hold_off(struct msd_house *house)
{
	house->no_direct_until_ms = uv_now(house->loop) + HOLD_OFF_MS;
	msd_directs_end(house);
}

void msd_directs_count(struct msd_house *house)
{
	MSD_LIST_EACH (it, &house->modules) {
		const struct msd_crew *crew =
			&MSD_CONTAINER_OF(it, struct msd_module, link)->crew;
		for (uint32_t i = 0; i < crew->n_replicas; i++) {
			if (crew->replicas[i].process != NULL)
				msd_direct_count(crew->replicas[i].process);
		}
	}
}
