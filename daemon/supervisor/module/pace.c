#include "daemon/supervisor/module/pace.h"

void msd_pace_note(struct msd_pace *pace, uint8_t place, uint64_t exec_ns)
{
	uint64_t us = exec_ns / 1000 + 1;

	if (us > MSD_PACE_MOST_US)
		us = MSD_PACE_MOST_US;
	const uint64_t before = pace->us[place];

	if (before != 0 && us > before) {
		us = (3 * before + us + 3) / 4;
	} else if (before != 0) {
		us = (before + us) / 2;
	}
	pace->us[place] = (uint32_t)us;
}
