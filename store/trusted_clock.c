#include "store/trusted_clock.h"

#define DAY_S UINT64_C(86400)
#define YEAR_S (365 * DAY_S)

static uint64_t later(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

uint64_t msd_trusted_clock(uint64_t system_s, uint64_t newest_s)
{
	const uint64_t now_s = later(system_s, MSD_BUILD_TIME);

	if (system_s >= MSD_BUILD_TIME && newest_s > system_s + YEAR_S)
		return now_s;
	return later(now_s, newest_s);
}

uint64_t msd_trusted_clock_push(uint64_t system_s, uint64_t newest_s,
				uint64_t created_s)
{
	const uint64_t most_s = system_s >= MSD_BUILD_TIME
					? system_s + DAY_S
					: MSD_BUILD_TIME + 10 * YEAR_S;

	return later(newest_s, created_s < most_s ? created_s : most_s);
}
