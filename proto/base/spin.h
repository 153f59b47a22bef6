#ifndef MSD_PROTO_SPIN_H
#define MSD_PROTO_SPIN_H
/*
 * Decide whether a waiting thread polls for a while before it sleeps. A wake-up costs
 * tens of microseconds, more than a short call; polling costs a processor for that
 * time. So polling needs a second processor for the other side, and recent hits.
 * Times are parameters; this code reads no clock and makes no system call.
 *
 *   SLEEPS --the last MSD_SPIN_RUN waits were short, and its rest is over--> LOOKS
 *   LOOKS --no message in most_ns, or MSD_SPIN_LOOKS looks--> SLEEPS, which rests
 *
 * A rest is a number of waits without polling: MSD_SPIN_REST_LEAST at first. It
 * doubles with each miss, up to MSD_SPIN_REST_MOST, and halves after MSD_SPIN_GOOD
 * consecutive hits. A wait is short up to MSD_SPIN_SHORT times the polling time: a
 * slept wait includes two wake-ups, one on each side, which polling removes. An idle
 * or slow peer causes no polling, because its waits are long.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_SPIN_MOST_NS UINT64_C(50000)
#define MSD_SPIN_LOOKS 512u /* per wait */
#define MSD_SPIN_RUN 4u
#define MSD_SPIN_SHORT 4u
#define MSD_SPIN_REST_LEAST 4u
#define MSD_SPIN_REST_MOST 1024u
#define MSD_SPIN_GOOD 16u

struct msd_spin_count {
	uint64_t hits;     /* waits that ended during polling */
	uint64_t misses;   /* waits that did not */
	uint64_t waste_ns; /* polling time of the misses */
};

static inline void msd_spin_count_add(struct msd_spin_count *to,
				      const struct msd_spin_count *more)
{
	to->hits += more->hits;
	to->misses += more->misses;
	to->waste_ns += more->waste_ns;
}

/* All zero: never polls. */
struct msd_spin {
	struct msd_spin_count count; /* public, read-only */
	/* private */
	uint64_t most_ns;   /* polling time per wait; 0: never polls */
	uint64_t since_ns;  /* start of the current wait */
	bool waits;         /* a wait is in progress */
	uint32_t looks;     /* remaining looks of this wait; 0: it sleeps */
	uint32_t run;       /* consecutive short waits */
	uint32_t good;      /* hits since the last miss */
	uint32_t rest;      /* remaining waits without polling */
	uint32_t next_rest; /* length of the rest after the next miss */
};

/**
 * Poll for @most_ns per wait, MSD_SPIN_MOST_NS at most. With fewer than two
 * processors never poll: @millis are thousandths of a processor.
 */
void msd_spin_init(struct msd_spin *s, uint64_t most_ns, uint64_t millis);
/** False: never polls, so waits need not be reported. */
static inline bool msd_spin_is_on(const struct msd_spin *s)
{
	return s->most_ns > 0;
}
/** A wait begins at @now_ns. Returns the polling time in nanoseconds; 0: sleep. */
uint64_t msd_spin_begin(struct msd_spin *s, uint64_t now_ns);
/** A look at @now_ns found nothing. True: look again; false: sleep. */
bool msd_spin_goes_on(struct msd_spin *s, uint64_t now_ns);
/**
 * The message arrived at @now_ns, during polling or sleep. Does nothing if no wait
 * has begun.
 */
void msd_spin_end(struct msd_spin *s, uint64_t now_ns);

#endif
