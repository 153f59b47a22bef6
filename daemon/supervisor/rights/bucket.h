#ifndef MSD_SUPERVISOR_BUCKET_H
#define MSD_SUPERVISOR_BUCKET_H
/*
 * A token bucket: so much a second on the average, at most a second's worth at once.
 * What costs more than that waits for a full bucket, and is paid off afterwards.
 * Without a clock of its own. All zeros are a full bucket.
 */
#include <stdint.h>

#define MSD_BUCKET_MAX (1ull << 50) /* a second, and at once */

struct msd_bucket {
	int64_t level;  /* thousandths; below 0: what was taken ahead */
	uint64_t at_ms; /* when that was so; 0: it was never used */
};

/** How long until @cost may be taken from @b, which fills by @per_s; 0: now. */
uint64_t msd_bucket_wait_ms(struct msd_bucket *b, uint64_t per_s, uint64_t cost,
			    uint64_t now_ms);
/** Take @cost, for which msd_bucket_wait_ms() has just said 0. */
void msd_bucket_take(struct msd_bucket *b, uint64_t cost);

#endif
