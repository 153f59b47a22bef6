#include "daemon/supervisor/rights/quota.h"

#include <string.h>

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

static const struct {
	const char *word, *unit, *what;
	uint64_t max;
} kinds[] = {
#define MSD_QUOTA_ROW(e, word, unit, max, what) {word, unit, what, max},
	MSD_QUOTA_MAP(MSD_QUOTA_ROW)
#undef MSD_QUOTA_ROW
};

bool msd_quota_is_empty(const struct msd_quota *q)
{
	uint64_t any = 0;

	for (unsigned i = 0; i < MSD_QUOTA_COUNT; i++)
		any |= q->of[i];
	return any == 0;
}

static bool refuse(enum msd_quota_kind kind, uint64_t wait_ms,
		   struct msd_quota_refusal *ret)
{
	*ret = (struct msd_quota_refusal){kind, wait_ms};
	return false;
}

bool msd_usage_ask(struct msd_usage *u, const struct msd_quota *q, uint64_t bytes,
		   uint64_t now_ms, struct msd_quota_refusal *ret)
{
	const uint64_t rate = q->of[MSD_QUOTA_RATE], bytes_s = q->of[MSD_QUOTA_BYTES];
	const uint64_t requests = q->of[MSD_QUOTA_REQUESTS];
	uint64_t wait_ms;

	if (requests > 0 && u->n_requests >= requests)
		return refuse(MSD_QUOTA_REQUESTS, MSD_QUOTA_GUESS_MS, ret);
	if (rate > 0) {
		wait_ms = msd_bucket_wait_ms(&u->calls, rate, 1, now_ms);
		if (wait_ms > 0)
			return refuse(MSD_QUOTA_RATE, wait_ms, ret);
	}
	if (bytes_s > 0) {
		wait_ms = msd_bucket_wait_ms(&u->bytes, bytes_s, bytes, now_ms);
		if (wait_ms > 0)
			return refuse(MSD_QUOTA_BYTES, wait_ms, ret);
		msd_bucket_spend(&u->bytes, bytes);
	}
	if (rate > 0)
		msd_bucket_spend(&u->calls, 1);
	return true;
}

bool msd_usage_may_keep(const struct msd_usage *u, const struct msd_quota *q,
			uint64_t bytes)
{
	const uint64_t most = q->of[MSD_QUOTA_RESIDENT];

	return most == 0 || (bytes <= most && u->resident_bytes <= most - bytes);
}

const char *msd_quota_text(enum msd_quota_kind kind)
{
	return kinds[kind].what;
}

const char *msd_quota_word(enum msd_quota_kind kind)
{
	return kinds[kind].word;
}

const char *msd_quota_unit(enum msd_quota_kind kind)
{
	return kinds[kind].unit;
}

static unsigned shift_of(uint8_t letter)
{
	return letter == 'K' ? 10 : letter == 'M' ? 20 : letter == 'G' ? 30 : 0;
}

bool msd_quota_read(struct msd_span text, enum msd_quota_kind kind, uint64_t *ret)
{
	const char *unit = kinds[kind].unit;
	const size_t n_unit = strlen(unit);
	const uint64_t max = kinds[kind].max;
	uint64_t number = 0;
	unsigned shift = 0;

	if (text.n <= n_unit || memcmp(text.p + text.n - n_unit, unit, n_unit) != 0)
		return false;
	text.n -= n_unit;
	if (kind == MSD_QUOTA_BYTES || kind == MSD_QUOTA_RESIDENT)
		shift = shift_of(text.p[text.n - 1]);
	text.n -= shift > 0;
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] < '0' || text.p[i] > '9' || number > max)
			return false;
		number = number * 10 + (text.p[i] - '0');
	}
	if (text.n == 0 || number == 0 || number > max >> shift)
		return false;
	*ret = number << shift;
	return true;
}
