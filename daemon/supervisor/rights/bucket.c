#include "daemon/supervisor/rights/bucket.h"

#define PARTS 1000 /* units per token: 1/s adds one unit per ms */

/* Refill. The level is at most one second's worth of the current rate. */
static void fill(struct msd_bucket *b, int64_t per_s, uint64_t now_ms)
{
	const int64_t full = per_s * PARTS;
	const uint64_t ms = now_ms > b->at_ms ? now_ms - b->at_ms : 0;

	if (b->at_ms == 0 || b->level >= full ||
	    ms >= (uint64_t)(full - b->level) / (uint64_t)per_s + 1) {
		b->level = full;
	} else {
		b->level += per_s * (int64_t)ms;
	}
	b->at_ms = now_ms > b->at_ms ? now_ms : b->at_ms;
}

uint64_t msd_bucket_wait_ms(struct msd_bucket *b, uint64_t per_s, uint64_t cost,
			    uint64_t now_ms)
{
	const int64_t each = (int64_t)per_s;

	fill(b, each, now_ms);
	const int64_t wanted = (int64_t)(cost < per_s ? cost : per_s) * PARTS;
	if (b->level >= wanted)
		return 0;
	return (uint64_t)((wanted - b->level + each - 1) / each);
}

void msd_bucket_spend(struct msd_bucket *b, uint64_t cost)
{
	b->level -= (int64_t)(cost < MSD_BUCKET_MAX ? cost : MSD_BUCKET_MAX) * PARTS;
}
