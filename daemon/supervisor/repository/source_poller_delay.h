#ifndef MSD_SUPERVISOR_SOURCE_POLLER_DELAY_H
#define MSD_SUPERVISOR_SOURCE_POLLER_DELAY_H
/* The delay before a module's source is polled again. It has random jitter, so that
 * machines that started together do not poll together. */
#include <stdint.h>

#define MSD_SOURCE_POLLER_NEVER UINT64_MAX
#define MSD_SOURCE_POLLER_MOST_MS 300000u /* maximum back-off */

struct msd_source_poller_backoff {
	uint64_t poll_ms;  /* 0: it is not polled again */
	uint64_t retry_ms; /* initial back-off after a failure */
};

/**
 * The delay after @n_failures in a row; 0: the last poll succeeded. @chance: a
 * uniformly random number.
 */
uint64_t msd_source_poller_delay(const struct msd_source_poller_backoff *pace,
				 uint32_t n_failures, uint32_t chance);
/** The delay before the first poll of a daemon that serves an edition of the store. */
uint64_t msd_source_poller_first_delay(const struct msd_source_poller_backoff *pace,
				       uint32_t chance);

#endif
