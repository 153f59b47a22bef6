#ifndef MSD_SUPERVISOR_QUOTA_H
#define MSD_SUPERVISOR_QUOTA_H

/* The limits of a user from its line of the ACL file, and its use so far over all its
 * connections. The caller passes the time. */

#include <stdbool.h>
#include <stdint.h>

#include "proto/base/bytes.h"

/*
 * A token bucket: a rate per second on average, with a burst of one second's worth. A
 * higher cost waits for a full bucket and leaves a debt. The caller passes the time.
 * All zeros are a full bucket.
 */

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

/* X(enumerator, word, suffix of the number, maximum, description) */
#define MSD_QUOTA_MAP(X)                                                               \
	X(RATE, "rate", "/s", 1000000000u, "calls in a second")                        \
	X(BYTES, "bytes", "/s", MSD_BUCKET_MAX, "bytes of arguments in a second")      \
	X(REQUESTS, "requests", "", 1000000u, "requests at the same time")             \
	X(MODULES, "modules", "", 1000000u, "modules")                                 \
	X(RESIDENT, "resident", "", MSD_BUCKET_MAX, "bytes of resident tensors")

enum msd_quota_kind {
#define MSD_QUOTA_ENUM(e, word, unit, max, what) MSD_QUOTA_##e,
	MSD_QUOTA_MAP(MSD_QUOTA_ENUM)
#undef MSD_QUOTA_ENUM
		MSD_QUOTA_COUNT
};

/* The limit of each kind; 0 means unlimited. */
struct msd_quota {
	uint64_t of[MSD_QUOTA_COUNT];
};

/* Retry time for limits that are not rates: the time when a request ends or an object
 * is freed is unknown. */
#define MSD_QUOTA_GUESS_MS 100u

/* The use so far. All zeros: no use yet. */
struct msd_usage {
	struct msd_bucket calls, bytes;
	uint64_t n_requests;     /* requests in flight on all its connections */
	uint64_t resident_bytes; /* in all workers, over all its connections */
};

/* The limit that a request exceeds. */
struct msd_quota_refusal {
	enum msd_quota_kind kind;
	uint64_t retry_after_ms; /* a guess if the limit is not a rate */
};

/** True if nothing is limited. */
bool msd_quota_is_empty(const struct msd_quota *q);
/**
 * Count one more request, other than a load, with @bytes of arguments in @u. False:
 * it exceeds a limit in @q, and nothing is counted.
 */
MSD_MUST_CHECK bool msd_usage_ask(struct msd_usage *u, const struct msd_quota *q,
				  uint64_t bytes, uint64_t now_ms,
				  struct msd_quota_refusal *ret);
/** True if the user of @u may hold @bytes more of resident tensors by @q. */
bool msd_usage_may_keep(const struct msd_usage *u, const struct msd_quota *q,
			uint64_t bytes);
/** "calls in a second", ... */
const char *msd_quota_text(enum msd_quota_kind kind);
/** "rate" and "/s", ... */
const char *msd_quota_word(enum msd_quota_kind kind);
const char *msd_quota_unit(enum msd_quota_kind kind);
/**
 * Parse the number after "rate=", with the unit of @kind; bytes may have K, M or G.
 * False: not a number, 0, or above the maximum of the kind.
 */
MSD_MUST_CHECK bool msd_quota_read(struct msd_span text, enum msd_quota_kind kind,
				   uint64_t *ret);

#endif
