#include "daemon/supervisor/repository/source_poller_delay.h"

#define FIRST_SHARE 10u /* the first poll waits at most 1/10 of the interval */

static uint64_t part_of(uint64_t ms, uint32_t chance)
{
	return (uint64_t)((double)ms * chance / UINT32_MAX);
}

uint64_t msd_source_poller_delay(const struct msd_source_poller_backoff *pace,
				 uint32_t n_failures, uint32_t chance)
{
	uint64_t most = pace->retry_ms;

	if (n_failures == 0) {
		return pace->poll_ms == 0
			       ? MSD_SOURCE_POLLER_NEVER
			       : pace->poll_ms / 2 + part_of(pace->poll_ms, chance);
	}
	for (uint32_t i = 0; i < n_failures && most < MSD_SOURCE_POLLER_MOST_MS; i++)
		most *= 2;
	return part_of(most < MSD_SOURCE_POLLER_MOST_MS ? most
							: MSD_SOURCE_POLLER_MOST_MS,
		       chance);
}

uint64_t msd_source_poller_first_delay(const struct msd_source_poller_backoff *pace,
				       uint32_t chance)
{
	return part_of(pace->poll_ms / FIRST_SHARE, chance);
}
