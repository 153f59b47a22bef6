#ifndef MSD_CLI_SAMPLES_H
#define MSD_CLI_SAMPLES_H
/* Measured times and their quantiles. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msd_samples {
	uint64_t *ns; /* owned; n entries, in the order of msd_samples_add() */
	size_t n;
};

/** False: out of memory. */
bool msd_samples_add(struct msd_samples *s, uint64_t ns);
/** Sort; required before quantiles are read. */
void msd_samples_sort(struct msd_samples *s);
/** The @permille-th quantile of sorted samples; 0 if there are none. */
uint64_t msd_samples_at(const struct msd_samples *s, unsigned permille);
uint64_t msd_samples_sum(const struct msd_samples *s);
void msd_samples_finish(struct msd_samples *s);

#endif
