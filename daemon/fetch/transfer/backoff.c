#include "daemon/fetch/transfer/backoff.h"

#include <sys/random.h>

static uint64_t at_most(uint64_t ms)
{
	return ms < MSD_BACKOFF_MOST_MS ? ms : MSD_BACKOFF_MOST_MS;
}

uint64_t msd_backoff_ms(unsigned n_failures, uint64_t first_ms, uint64_t least_ms)
{
	uint64_t most = at_most(first_ms);
	uint32_t random = 0;

	for (unsigned i = 1; i < n_failures && most < MSD_BACKOFF_MOST_MS; i++)
		most = at_most(2 * most);
	if (getrandom(&random, sizeof(random), GRND_NONBLOCK) < 0)
		random = UINT32_MAX; /* without randomness, use the longest time */
	const uint64_t ms = most * random / UINT32_MAX;
	return ms > at_most(least_ms) ? ms : at_most(least_ms);
}
