#ifndef MSD_FETCH_BACKOFF_H
#define MSD_FETCH_BACKOFF_H
/* How long who failed rests before it tries again. */
#include <stdint.h>

#define MSD_BACKOFF_MOST_MS 300000u

/**
 * A random time up to @first_ms doubled with each failure before the last of
 * @n_failures (at least 1): those that failed together do not come back together. Not
 * below @least_ms, which a server asked for; neither is above MSD_BACKOFF_MOST_MS.
 */
uint64_t msd_backoff_ms(unsigned n_failures, uint64_t first_ms, uint64_t least_ms);

#endif
