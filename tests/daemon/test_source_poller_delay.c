#include <criterion/criterion.h>
#include <stdlib.h>

#include "daemon/supervisor/repository/source_poller.h"

static const struct msd_source_poller_backoff minute = {.poll_ms = 60000,
							.retry_ms = 1000};

Test(supply_rest, is_the_poll_half_less_to_half_more)
{
	cr_assert_eq(msd_source_poller_delay(&minute, 0, 0), 30000);
	cr_assert_eq(msd_source_poller_delay(&minute, 0, UINT32_MAX), 90000);
}

Test(supply_rest, has_no_end_where_nothing_is_polled)
{
	const struct msd_source_poller_backoff once = {.retry_ms = 1000};

	cr_assert_eq(msd_source_poller_delay(&once, 0, 7), MSD_SOURCE_POLLER_NEVER);
	cr_assert_eq(msd_source_poller_delay(&once, 1, UINT32_MAX), 2000);
}

Test(supply_rest, after_failures_is_anything_up_to_twice_as_long_each_time)
{
	for (uint32_t n = 1; n < 8; n++) {
		cr_assert_eq(msd_source_poller_delay(&minute, n, 0), 0);
		cr_assert_eq(msd_source_poller_delay(&minute, n, UINT32_MAX),
			     1000u << n);
	}
}

Test(supply_rest, never_is_above_its_bound)
{
	const struct msd_source_poller_backoff slow = {.retry_ms = UINT64_MAX};

	cr_assert_eq(msd_source_poller_delay(&minute, 1000, UINT32_MAX),
		     MSD_SOURCE_POLLER_MOST_MS);
	cr_assert_eq(msd_source_poller_delay(&slow, 70, UINT32_MAX),
		     MSD_SOURCE_POLLER_MOST_MS);
}

Test(supply_rest, of_a_start_spreads_over_a_tenth_of_the_poll)
{
	cr_assert_eq(msd_source_poller_first_delay(&minute, 0), 0);
	cr_assert_eq(msd_source_poller_first_delay(&minute, UINT32_MAX), 6000);
}

#define N_DEVICES 100u
#define N_WINDOWS 3600u

/* Devices that begin together at a registry which is dead for @dead_ms, then answers;
 * how many ask the living one in each window of @window_ms since. True: all have. */
static bool simulate(const struct msd_source_poller_backoff *pace, uint64_t dead_ms,
		     uint64_t window_ms, unsigned seed, uint32_t n_asked[N_WINDOWS])
{
	uint32_t n_served = 0;

	for (uint32_t device = 0; device < N_DEVICES; device++) {
		uint64_t now_ms = 0;
		uint32_t n_failures = 0;
		bool is_served = false;

		while (now_ms < dead_ms + N_WINDOWS * window_ms) {
			const uint32_t chance =
				(uint32_t)rand_r(&seed) << 16 ^ (uint32_t)rand_r(&seed);

			if (now_ms < dead_ms) {
				n_failures++;
			} else {
				n_asked[(now_ms - dead_ms) / window_ms]++;
				n_failures = 0;
				is_served = true;
			}
			now_ms += msd_source_poller_delay(pace, n_failures, chance);
		}
		n_served += is_served ? 1 : 0;
	}
	return n_served == N_DEVICES;
}

/* No second has more than twice the mean, where a hundred devices ask every five: a
 * registry that is back is not run over. */
Test(supply_rest, spreads_a_hundred_devices_when_their_registry_is_back)
{
	const struct msd_source_poller_backoff pace = {.poll_ms = 5000,
						       .retry_ms = 1000};

	for (unsigned seed = 1; seed <= 20; seed++) {
		uint32_t n_asked[N_WINDOWS] = {0};
		uint32_t n = 0, most = 0;

		cr_assert(simulate(&pace, (uint64_t)seed * 60000, 1000, seed, n_asked));
		for (uint32_t i = 0; i < N_WINDOWS; i++) {
			n += n_asked[i];
			most = n_asked[i] > most ? n_asked[i] : most;
		}
		cr_expect_leq((double)most, 2.0 * n / N_WINDOWS, "seed %u: %u of %u",
			      seed, most, n);
	}
}

/* Where they ask every five minutes, one request in a second is more than the mean: but
 * never do they come together. */
Test(supply_rest, lets_no_tenth_of_them_come_in_one_second)
{
	const struct msd_source_poller_backoff pace = {.poll_ms = 300000,
						       .retry_ms = 1000};

	for (unsigned seed = 1; seed <= 20; seed++) {
		uint32_t n_asked[N_WINDOWS] = {0};

		cr_assert(simulate(&pace, (uint64_t)seed * 60000, 1000, seed, n_asked));
		for (uint32_t i = 0; i < N_WINDOWS; i++)
			cr_expect_lt(n_asked[i], N_DEVICES / 10, "seed %u", seed);
	}
}
