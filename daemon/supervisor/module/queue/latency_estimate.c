#include "daemon/supervisor/module/queue/latency_estimate.h"

static uint64_t next(uint64_t before, uint8_t n, uint64_t us)
{
	if (n == 0 || (n == 1 && us < before))
		return us;
	return (3 * before + us + 2) / 4; /* rounded: rises as it falls */
}

void msd_latency_estimate_note(struct msd_latency_estimate *pace, uint8_t place,
			       uint64_t exec_ns)
{
	uint64_t us = exec_ns / 1000 + 1;

	if (us > MSD_LATENCY_ESTIMATE_MOST_US)
		us = MSD_LATENCY_ESTIMATE_MOST_US;
	pace->us[place] = (uint32_t)next(pace->us[place], pace->n[place], us);
	if (pace->n[place] < 2)
		pace->n[place]++;
}
