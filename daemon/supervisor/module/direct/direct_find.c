#include "daemon/segments/ledger.h"
#include "daemon/supervisor/module/direct/direct.h"

struct msd_direct *msd_direct_find(const struct msd_process *p, uint64_t number)
{
	MSD_LIST_EACH (it, &p->directs) {
		if (MSD_CONTAINER_OF(it, struct msd_direct, link)->number == number)
			return MSD_CONTAINER_OF(it, struct msd_direct, link);
	}
	return NULL;
}

uint16_t msd_direct_free_number(const struct msd_process *p)
{
	for (uint16_t i = 1; i <= MSD_MAX_GUESTS; i++) {
		if (msd_direct_find(p, i) == NULL)
			return i;
	}
	return 0;
}
