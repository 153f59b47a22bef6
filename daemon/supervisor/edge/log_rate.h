#ifndef MSD_SUPERVISOR_LOG_RATE_H
#define MSD_SUPERVISOR_LOG_RATE_H
/*
 * How often a line of the log may be written whose cause a client chooses: so many a
 * second, the others are counted, and the next line says how many they were.
 */
#include <stdbool.h>
#include <stdint.h>

struct msd_log_rate {
	uint64_t second;     /* of the lines counted in n */
	uint32_t n;          /* written in it */
	uint64_t n_left_out; /* since the last one that was written */
};

/** May a line be written at @now_ms, one of @per_second? Then *@ret is how many were
 * left out before it. */
static inline bool msd_log_rate_take(struct msd_log_rate *r, uint64_t now_ms,
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
