#ifndef MSD_SUPERVISOR_HISTOGRAM_H
#define MSD_SUPERVISOR_HISTOGRAM_H
/* Histogram of the run times of a module's calls, by the highest bit of their
 * nanoseconds. One addition per call; a quantile is exact to a factor below two. */
#include <stdint.h>

#define MSD_HISTOGRAM_BINS 64u

struct msd_histogram {
	uint64_t n[MSD_HISTOGRAM_BINS]; /* 2^i to 2^(i + 1) - 1 ns; 0 is in bin 0 */
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

/** Number of all noted calls. */
uint64_t msd_histogram_total(const struct msd_histogram *h);
/**
 * Return the time in ns below which @percent of the calls stayed. Assumes that calls
 * are spread evenly within a bin. 0 if the histogram is empty.
 */
uint64_t msd_histogram_quantile(const struct msd_histogram *h, unsigned percent);

#endif
