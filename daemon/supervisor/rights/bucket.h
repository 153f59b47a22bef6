#ifndef MSD_SUPERVISOR_BUCKET_H
#define MSD_SUPERVISOR_BUCKET_H
/*
 * A token bucket: a rate per second on average, with a burst of one second's worth. A
 * higher cost waits for a full bucket and leaves a debt. The caller passes the time.
 * All zeros are a full bucket.
 */
#include <stdint.h>

#define MSD_BUCKET_MAX (1ull << 50) /* maximum rate per second, and maximum cost */

struct msd_bucket {
	int64_t level;  /* thousandths of a token; negative: debt */
	uint64_t at_ms; /* time of the last refill; 0: never used */
};

/** Return the time until @cost may be taken from @b at the rate @per_s. 0: now. */
uint64_t msd_bucket_wait_ms(struct msd_bucket *b, uint64_t per_s, uint64_t cost,
			    uint64_t now_ms);
/** Take @cost. Call only after msd_bucket_wait_ms() returned 0. */
void msd_bucket_spend(struct msd_bucket *b, uint64_t cost);

#endif
