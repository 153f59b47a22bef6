#include "daemon/supervisor/module/pace.h"

uint8_t msd_pace_place(struct msd_span target)
{
	uint32_t hash = 2166136261u; /* FNV-1a */

	for (size_t i = 0; i < target.n; i++)
		hash = (hash ^ target.p[i]) * 16777619u;
	return (uint8_t)(hash ^ hash >> 8 ^ hash >> 16 ^ hash >> 24);
}

uint32_t msd_pace_expect(const struct msd_pace *pace, uint8_t place)
{
	return pace->us[place] != 0 ? pace->us[place] : MSD_PACE_UNKNOWN_US;
}

void msd_pace_note(struct msd_pace *pace, uint8_t place, uint64_t exec_ns)
{
	uint64_t us = exec_ns / 1000 + 1;

	if (us > MSD_PACE_UNKNOWN_US)
		us = MSD_PACE_UNKNOWN_US;
	if (pace->us[place] != 0)
		us = (3ull * pace->us[place] + us + 3) / 4;
	pace->us[place] = (uint32_t)us;
}
