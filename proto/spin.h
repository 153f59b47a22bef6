#ifndef MSD_PROTO_SPIN_H
#define MSD_PROTO_SPIN_H
/*
 * Whether who waits for a message looks for it for a while before it sleeps. To be
 * woken costs tens of microseconds, more than a short call; to look costs a processor
 * that long. So it is done only where there is another processor for the other side,
 * and where it has paid lately. Times are given; nothing is read or called here.
 *
 *   SLEEPS --the last MSD_SPIN_RUN waits were short, and its rest is over--> LOOKS
 *   LOOKS --nothing came in most_ns, or MSD_SPIN_LOOKS looks--> SLEEPS, which rests
 *
 * A rest is so many waits that are slept through: MSD_SPIN_REST_LEAST, and twice as
 * many with each miss, up to MSD_SPIN_REST_MOST; half as many again after
 * MSD_SPIN_GOOD hits in a row. A wait is short up to MSD_SPIN_SHORT times what is
 * looked for at most: one that was slept through has two wake-ups in it, of either
 * side, which are gone when both look. An idle or a slow other side is never looked
 * for: its waits are long.
 */
#include <stdbool.h>
#include <stdint.h>

#define MSD_SPIN_MOST_NS UINT64_C(50000)
#define MSD_SPIN_LOOKS 512u /* of one wait */
#define MSD_SPIN_RUN 4u
#define MSD_SPIN_SHORT 4u
#define MSD_SPIN_REST_LEAST 4u
#define MSD_SPIN_REST_MOST 1024u
#define MSD_SPIN_GOOD 16u

struct msd_spin_count {
	uint64_t hits;     /* waits that ended while it looked */
	uint64_t misses;   /* that did not */
	uint64_t waste_ns; /* that it looked in these */
};

static inline void msd_spin_count_add(struct msd_spin_count *to,
				      const struct msd_spin_count *more)
{
	to->hits += more->hits;
	to->misses += more->misses;
	to->waste_ns += more->waste_ns;
}

/* All zero: it never looks. */
struct msd_spin {
	struct msd_spin_count count; /* public, read-only */
	/* private */
	uint64_t most_ns;   /* of one wait; 0: it never looks */
	uint64_t since_ns;  /* when the wait that is now began */
	bool waits;         /* there is one */
	uint32_t looks;     /* that are left of it; 0: it sleeps */
	uint32_t run;       /* the last waits that were short, in a row */
	uint32_t good;      /* hits since the last miss */
	uint32_t rest;      /* waits that are slept through yet */
	uint32_t next_rest; /* so many behind the next miss */
};

/** It looks for @most_ns of a wait, MSD_SPIN_MOST_NS at most; never, where it may use
 * fewer than two processors: @millis are thousandths of one. */
void msd_spin_init(struct msd_spin *s, uint64_t most_ns, uint64_t millis);
/** False: it never looks, and need not be told of waits. */
static inline bool msd_spin_is_on(const struct msd_spin *s)
{
	return s->most_ns > 0;
}
/** A wait begins at @now_ns. How many nanoseconds to look; 0: sleep. */
uint64_t msd_spin_begin(struct msd_spin *s, uint64_t now_ns);
/** A look at @now_ns has found nothing. True: look again; false: sleep. */
bool msd_spin_goes_on(struct msd_spin *s, uint64_t now_ns);
/** What was waited for is there at @now_ns, whether it slept or not. Without a wait
 * that began nothing is done. */
void msd_spin_end(struct msd_spin *s, uint64_t now_ns);

#endif
