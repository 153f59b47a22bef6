#ifndef MSD_SUPERVISOR_HISTOGRAM_H
#define MSD_SUPERVISOR_HISTOGRAM_H
/*
 * How long a module's calls ran: counted by the highest bit of their nanoseconds. One
 * add a call; a quantile is known to a factor below two.
 */
#include <stdint.h>

#define MSD_HISTOGRAM_BINS 64u

struct msd_histogram {
	uint64_t n[MSD_HISTOGRAM_BINS]; /* of 2^i to 2^(i + 1) - 1 ns; 0 is among 1 */
};

static inline void msd_histogram_note_each(struct msd_histogram *h, uint64_t ns,
					   uint32_t n)
{
	h->n[63 - __builtin_clzll(ns | 1u)] += n;
}

static inline void msd_histogram_note(struct msd_histogram *h, uint64_t ns)
{
	msd_histogram_note_each(h, ns, 1);
}

/** Of all that was noted. */
uint64_t msd_histogram_total(const struct msd_histogram *h);
/** The time, in ns, that @percent of all stayed below; within its bin as if that were
 * filled evenly. 0 when nothing was noted. */
uint64_t msd_histogram_quantile(const struct msd_histogram *h, unsigned percent);

#endif
