#ifndef MSD_SUPERVISOR_QUOTA_H
#define MSD_SUPERVISOR_QUOTA_H
/*
 * How much a user may ask for, as its line of the file of rights says, and how much it
 * has asked for so far, over all its connections. Without a clock of its own.
 */
#include <stdbool.h>
#include <stdint.h>

#include "daemon/supervisor/rights/bucket.h"
#include "proto/bytes.h"

/* X(enumerator, word, what follows the number, largest, what it is of) */
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

/* Of each kind; 0: as much as one likes. */
struct msd_quota {
	uint64_t of[MSD_QUOTA_COUNT];
};

/* Of what is no rate, for when a request ends, or something is freed, nobody knows. */
#define MSD_QUOTA_GUESS_MS 100u

/* All zeros: nothing yet. */
struct msd_usage {
	struct msd_bucket calls, bytes;
	uint64_t n_requests;     /* in flight, on all its connections */
	uint64_t resident_bytes; /* that it has in workers, through all of them */
};

/* What a request that would be one too many is told. */
struct msd_quota_refusal {
	enum msd_quota_kind kind;
	uint64_t retry_after_ms; /* of what is no rate, a guess */
};

/** Nothing is limited. */
bool msd_quota_is_empty(const struct msd_quota *q);
/** One more request, which is no load, with @bytes of arguments, of who has @u by @q:
 * counted as asked for, or refused, and then nothing is counted. */
MSD_MUST_CHECK bool msd_usage_ask(struct msd_usage *u, const struct msd_quota *q,
				  uint64_t bytes, uint64_t now_ms,
				  struct msd_quota_refusal *ret);
/** Whether who has @u by @q may have @bytes more of resident tensors. */
bool msd_usage_may_keep(const struct msd_usage *u, const struct msd_quota *q,
			uint64_t bytes);
/** "calls in a second", ... */
const char *msd_quota_text(enum msd_quota_kind kind);
/** "rate" and "/s", ... */
const char *msd_quota_word(enum msd_quota_kind kind);
const char *msd_quota_unit(enum msd_quota_kind kind);
/** The number behind "rate=", with the unit of @kind; bytes with K, M or G. False: it
 * is none, or 0, or more than that kind can be. */
MSD_MUST_CHECK bool msd_quota_read(struct msd_span text, enum msd_quota_kind kind,
				   uint64_t *ret);

#endif
