#ifndef MSD_SUPERVISOR_LOG_RATE_H
#define MSD_SUPERVISOR_LOG_RATE_H
/* Rate limit for log lines that clients can cause. Lines above the limit per second
 * are counted, and the next written line reports the count. */
#include <stdbool.h>
#include <stdint.h>

struct msd_log_rate {
	uint64_t second;     /* second that n refers to */
	uint32_t n;          /* lines written in that second */
	uint64_t n_left_out; /* dropped since the last written line */
};

/**
 * True if a line may be written at @now_ms, at most @per_second. *@ret is then the
 * number of lines dropped before it.
 */
static inline bool msd_log_rate_allow(struct msd_log_rate *r, uint64_t now_ms,
				      uint32_t per_second, uint64_t *ret)
{
	if (r->second != now_ms / 1000) {
		r->second = now_ms / 1000;
		r->n = 0;
	}
	if (r->n >= per_second) {
		r->n_left_out++;
		return false;
	}
	r->n++;
	*ret = r->n_left_out;
	r->n_left_out = 0;
	return true;
}

#endif
