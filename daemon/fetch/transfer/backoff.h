#ifndef MSD_FETCH_BACKOFF_H
#define MSD_FETCH_BACKOFF_H
/* Back-off time before a retry. */
#include <stdint.h>

#define MSD_BACKOFF_MOST_MS 300000u

/**
 * A random time in ms, at most @first_ms doubled for each failure after the first
 * (@n_failures is at least 1). The randomness spreads the retries of clients that
 * failed together. The result is at least @least_ms, which a server may ask for, and
 * at most MSD_BACKOFF_MOST_MS.
 */
uint64_t msd_backoff_ms(unsigned n_failures, uint64_t first_ms, uint64_t least_ms);

#endif
